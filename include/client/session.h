/* SPDX-License-Identifier: MIT
 * client_session: one run of tcpclient, from its plan to its exit code: check -> open outputs and
 * control port -> run -> judge -> report.  Main thread. */
#ifndef TCPSCALER_CLIENT_SESSION_H
#define TCPSCALER_CLIENT_SESSION_H

#include "client/session_state.h"

/* Exit codes. */
enum client_exit {
    CLIENT_EXIT_VALID = 0,
    CLIENT_EXIT_FAILED_CHECK = 1,
    CLIENT_EXIT_USAGE = 2,
    CLIENT_EXIT_SUSPECT = 3,
    CLIENT_EXIT_INTERRUPTED = 130
};

/* _print_plan is --plan.  Both return the exit code and log errors on stderr.  What the report says
 * is not logged again: that a printed plan does not fit, that a run is SUSPECT or was interrupted.
 */
int client_session_print_plan(struct client_session *s);
int client_session_run(struct client_session *s);

/* Frees the plan, too. */
void client_session_free(struct client_session *s);

#endif
