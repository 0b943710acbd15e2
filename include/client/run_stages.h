/* SPDX-License-Identifier: MIT
 * client_run_stages: takes the workers of a run from stage to stage: connected, load, drained,
 * closed.  Main thread. */
#ifndef TCPSCALER_CLIENT_RUN_STAGES_H
#define TCPSCALER_CLIENT_RUN_STAGES_H

#include "client/run_state.h"

/* Call it when a worker has entered a stage: starts the load, or closes the connections, once all
 * workers are ready. */
void client_run_follow_stages(struct client_run_state *r);

/* Call it before the workers start. */
void client_run_prepare_opening(struct client_run_state *r);

/* Call it repeatedly before the load: lets the workers go on beyond their first window, or stops
 * opening connections if none gets an answer. */
void client_run_look_at_opening(struct client_run_state *r, uint64_t now_ns);

/* Call it every 20 ms under load: goes on with the searches, if there are any, and ends the run
 * with the last one. */
void client_run_look_at_search(struct client_run_state *r, uint64_t now_ns);

/* Stops connecting and sending, and ends the run. */
void client_run_stop(struct client_run_state *r);

/* Likewise, on request of a signal. */
void client_run_interrupt(struct client_run_state *r);

#endif
