/* SPDX-License-Identifier: MIT
 * client_run: the main thread's half of a run: starts the workers, leads them through the stages,
 * handles signals, shows progress, collects what they found. */
#ifndef TCPSCALER_CLIENT_RUN_H
#define TCPSCALER_CLIENT_RUN_H

#include "client/run_state.h"

/* Runs to the end, or until SIGINT, SIGTERM or the loss of the terminal: then the queries in flight
 * are cancelled and the result is complete for what was done.  SIGUSR1 prints the progress line at
 * once; who asked to be told (base/notify.h) is when all connections are open, and at the end.
 * config->wake_fd and config->spare_tuple are set here. Fills all of *result but the rows, the
 * diagnosis, the broken law and the doubts; its histograms are the caller's to free.  Returns 0; or
 * -1 with errno when a worker could not be started, nothing being left. */
int client_run(struct client_config *config, const struct client_run_settings *settings,
               struct client_result *result);

#endif
