/* SPDX-License-Identifier: MIT
 * client_run_progress: the progress line of a run.  Main thread. */
#ifndef TCPSCALER_CLIENT_RUN_PROGRESS_H
#define TCPSCALER_CLIENT_RUN_PROGRESS_H

#include "client/run_state.h"

/* Before the first connection: finds the interface that leads to the target, too. */
void client_run_prepare_progress(struct client_run_state *r, uint64_t now_ns);

/* Prints it on stderr; in_place: over the one before. */
void client_run_show_progress(struct client_run_state *r, bool in_place);

#endif
