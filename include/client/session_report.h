/* SPDX-License-Identifier: MIT
 * client_session_report: the reports of a session: its files, its page and the summary.  Main
 * thread. */
#ifndef TCPSCALER_CLIENT_SESSION_REPORT_H
#define TCPSCALER_CLIENT_SESSION_REPORT_H

#include "client/report.h"
#include "client/session_state.h"

/* What the reports say about the run in addition to its result. */
struct report_about client_session_about(const struct client_session *s, double rate_qps);

/* Writes the reports, and closes the outputs.  Returns whether all were written; if not, after one
 * line on stderr. */
bool client_session_report(struct client_session *s, const struct client_result *result);

#endif
