/* SPDX-License-Identifier: MIT
 * client_run: the main thread's part of a run: starts the workers, takes them through the stages,
 * handles signals, shows progress and collects results. */
#ifndef TCPSCALER_CLIENT_RUN_H
#define TCPSCALER_CLIENT_RUN_H

#include "client/run_state.h"

/* Runs to the end, or until SIGINT, SIGTERM or the loss of the terminal: then cancels the queries
 * in flight, and the result covers what was done.  SIGUSR1 prints a progress line.  Sends
 * notifications (base/notify.h) when all connections are open and at the end.  Sets config->wake_fd
 * and config->spare_tuple.  Fills in all of *result but the rows, the diagnosis, the broken law and
 * the doubts; the caller frees its histograms.  Returns 0; or -1 with errno if a worker could not
 * be started, with nothing left running. */
int client_run(struct client_config *config, const struct client_run_settings *settings,
               struct client_result *result);

#endif
