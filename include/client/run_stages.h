/* SPDX-License-Identifier: MIT
 * client_run_stages: takes the workers of a run from stage to stage: connected, load, drained,
 * closed.  Main thread. */
#ifndef TCPSCALER_CLIENT_RUN_STAGES_H
#define TCPSCALER_CLIENT_RUN_STAGES_H

#include "client/run_state.h"

/* Call it when a worker has entered a stage: starts the load, or closes the connections, once all
 * workers are ready. */
void client_run_follow_stages(struct client_run_state *r);

/* Stops connecting and sending, and ends the run. */
void client_run_stop(struct client_run_state *r);

/* Likewise, on request of a signal. */
void client_run_interrupt(struct client_run_state *r);

#endif
