/* SPDX-License-Identifier: MIT
 * server: the state of a running tcpserver.  Data only; main thread. */
#ifndef TCPSCALER_SERVER_SERVER_H
#define TCPSCALER_SERVER_SERVER_H

#include "base/output.h"
#include "host/memory_watch.h"
#include "net/control_socket.h"
#include "net/sock.h"
#include "server/control.h"
#include "server/listeners.h"
#include "server/listing.h"
#include "server/opts.h"
#include "server/plan.h"
#include "server/report.h"
#include "server/workers.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

enum { SERVER_N_SIGNALS = 2 };

struct server {
    struct server_opts opts;
    struct server_plan plan;
    struct server_listeners listeners;
    char address_text[SOCK_TEXT_BYTES];
    struct server_workers workers;
    struct server_result result;
    struct server_tally previous; /* at the last statistics line */
    uint64_t begin_ns, previous_ns;
    uint64_t pressure_ns; /* last check for memory pressure of TCP */
    struct event_base *base;
    struct memory_watch memory;
    bool memory_was_short; /* at the last check */
    struct event end_event, look_event, stats_event, grow_event, signal_events[SERVER_N_SIGNALS];
    struct control_socket control_socket;
    struct control_token control_token;
    struct server_control control;
    struct output json, connections;
    struct server_listing listing; /* --connections-out */
};

#endif
