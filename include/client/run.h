/* SPDX-License-Identifier: MIT
 * client_run: the main thread's part of a run: starts the workers, takes them through the stages,
 * handles signals, shows progress and collects results. */
#ifndef TCPSCALER_CLIENT_RUN_H
#define TCPSCALER_CLIENT_RUN_H

#include "client/run_state.h"

/* Runs to the end, or until SIGINT, SIGTERM or the loss of the terminal: then cancels the queries
 * in flight, and the result covers what was done.  SIGUSR1 prints a progress line.  Notifies the
 * service manager (base/notify.h) when the load starts and at the end.
 *
 * Sets fields of *config that refer to the state of the run, such as wake_fd and spare_tuple; they
 * are invalid after it returns.  Leaves to the caller the result's rows, servers, cost, samples,
 * diagnosis, broken law, verdict and doubts, and to free its histograms, also on failure.  Returns
 * 0, or -1 if the run could not be set up, with nothing left running; errno may not say why. */
int client_run(struct client_config *config, const struct client_run_settings *settings,
               struct client_result *result);

#endif
