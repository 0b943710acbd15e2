/* SPDX-License-Identifier: MIT
 * client_run_state: the main thread's state of a run of tcpclient.  Data only. */
#ifndef TCPSCALER_CLIENT_RUN_STATE_H
#define TCPSCALER_CLIENT_RUN_STATE_H

#include "client/control.h"
#include "client/intervals.h"
#include "client/opening.h"
#include "client/progress.h"
#include "client/result.h"
#include "client/start_gate.h"
#include "client/steer.h"
#include "client/worker/config.h"
#include "client/workers.h"
#include "host/memory_watch.h"
#include "workload/trend.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct client_sweep;
struct control_socket;
struct control_token;
struct report_about;
struct watch_thread;

enum { CLIENT_RUN_N_SIGNALS = 2 };

struct client_run_settings {
    uint64_t settle_ns;                     /* from the last connection to the first query */
    const struct start_gate_settings *gate; /* replaces settle_ns; NULL: none */
    uint64_t stats_interval_ns;             /* between progress lines on stderr; 0: none */
    bool stats_in_place;                    /* one line on stderr, updated every second */
    double rate_qps;                        /* requested, for the progress line */
    FILE *connections;                      /* connection rows at the end; NULL: none */
    struct output *interval_log;            /* begin() writes its header; NULL: none */
    /* Begins the outputs once all threads have started.  Returns 0, or -1 after a line on stderr.
     * NULL: there are none. */
    int (*begin)(void *arg);
    void (*reopen)(void *arg); /* on SIGHUP: reopens files that are written during the run */
    void (*look)(void *arg);   /* every second: looks whether they can be written */
    void *arg;
    struct control_socket *control; /* control port; NULL: none */
    const struct control_token *control_token;
    const struct report_about *about; /* shown by the control port */
    struct client_servers *servers;   /* read again at the end; NULL: none */
    struct watch_thread *watch;       /* samples the server; opened; NULL: none */
    struct client_sweep *sweep;       /* searches, which set the load; prepared; NULL: none */
};

struct client_run_state {
    struct client_config *config;
    const struct client_run_settings *settings;
    struct client_result *result;
    struct client_workers workers;
    struct event_base *base;
    struct event wake_event, end_event, look_event, tick_event, stats_event,
        signal_events[CLIENT_RUN_N_SIGNALS];
    struct client_intervals intervals;
    struct client_steer steer;
    struct client_control control;
    struct start_gate gate;
    _Atomic uint64_t spare_tuple, fallback_tuples[CLIENT_CLASS_MOST];
    enum client_stage stage; /* the earliest of all workers */
    bool started, closing;
    atomic_bool has_load; /* as `started`, for the thread that samples the server */
    bool opens_all;       /* the workers go on beyond the first window of connections */
    struct client_opening opening;
    uint64_t begin_ns, measure_ns, end_ns, stopped_ns;
    struct trend trend;
    struct memory_watch memory;
    struct progress progress;
};

#endif
