/* SPDX-License-Identifier: MIT
 * client_run: the main thread's half of a run: starts the workers, leads them through the stages,
 * handles signals, shows progress, collects what they found. */
#ifndef TCPSCALER_CLIENT_RUN_H
#define TCPSCALER_CLIENT_RUN_H

#include "client/result.h"
#include "client/worker/config.h"

#include <stdio.h>

struct start_gate_settings;
struct control_socket;
struct control_token;
struct report_about;

struct client_run_settings {
    uint64_t settle_ns;                     /* from the last connection to the first query */
    const struct start_gate_settings *gate; /* instead: the load waits there; NULL: none */
    uint64_t stats_interval_ns;             /* between progress lines on stderr; 0: none */
    bool stderr_is_terminal;
    bool stats_in_place;       /* one line on stderr, written over again each second */
    double rate_qps;           /* asked, for the progress line */
    FILE *connections;         /* a row per connection goes there at the end; NULL: none */
    FILE *interval_log;        /* begun; NULL: none */
    void (*reopen)(void *arg); /* on SIGHUP: files that are written through the run */
    void *arg;
    struct control_socket *control; /* to be steered at; NULL: not */
    const struct control_token *control_token;
    const struct report_about *about; /* for what is shown there */
    const char *server_control;       /* read at the end; NULL: not */
};

/* Runs to the end, or until SIGINT, SIGTERM or the loss of the terminal: then the queries in flight
 * are cancelled and the result is complete for what was done.  SIGUSR1 prints the progress line at
 * once; who asked to be told (base/notify.h) is when all connections are open, and at the end.
 * config->wake_fd and config->spare_tuple are set here. Fills all of *result but the samples, the
 * diagnosis, the broken law and the doubts; its histograms are the caller's to free.  Returns 0; or
 * -1 with errno when a worker could not be started, nothing being left. */
int client_run(struct client_config *config, const struct client_run_settings *settings,
               struct client_result *result);

#endif
