/* SPDX-License-Identifier: MIT
 * client_run_progress: the progress line of a run.  Main thread. */
#ifndef TCPSCALER_CLIENT_RUN_PROGRESS_H
#define TCPSCALER_CLIENT_RUN_PROGRESS_H

#include "client/run_state.h"

/* Call it before the first connection: also looks up the interface that leads to the target. */
void client_run_prepare_progress(struct client_run_state *r, uint64_t now_ns);

/* Prints the progress line on stderr.  in_place: replaces the previous one. */
void client_run_show_progress(struct client_run_state *r, bool in_place);

#endif
