/* SPDX-License-Identifier: MIT
 * server_session: one run of tcpserver, from its plan to its exit code: check -> listen -> start
 * workers -> wait -> stop -> report.  Main thread. */
#ifndef TCPSCALER_SERVER_SESSION_H
#define TCPSCALER_SERVER_SESSION_H

#include "server/server.h"

enum server_exit { SERVER_EXIT_DONE = 0, SERVER_EXIT_REPORT_LOST = 1, SERVER_EXIT_USAGE = 2 };

#define SERVER_SESSION_INIT                                                                        \
    {                                                                                              \
        .json = OUTPUT_CLOSED, .connections = OUTPUT_CLOSED, .control_socket = {.fd = -1},         \
        .memory = {                                                                                \
            .meminfo_fd = -1                                                                       \
        }                                                                                          \
    }

/* Require opts and plan.  _print_plan is --plan.  Both return the exit code and log errors on
 * stderr; a printed plan that does not fit is not an error to log. */
int server_session_print_plan(struct server *s);
int server_session_run(struct server *s);

/* Frees the plan, too. */
void server_session_free(struct server *s);

#endif
