/* SPDX-License-Identifier: MIT
 * client_find_trial: what the workers recorded since a trial of a capacity search began
 * (client/find.h).  Main thread only. */
#ifndef TCPSCALER_CLIENT_FIND_TRIAL_H
#define TCPSCALER_CLIENT_FIND_TRIAL_H

#include "client/find_state.h"

#include <stdbool.h>
#include <stdint.h>

/* Starts counting. */
void client_find_trial_begin(struct client_find *f);

/* Fills in what happened while connections were opened; the figures of a trial that never began. */
void client_find_trial_fill_connecting(const struct client_find *f, struct client_find_trial *t);

/* Returns the longest time from when a query is due until it has its outcome, unless it is sent
 * late. */
uint64_t client_find_trial_latest_ns(const struct client_find *f);

/* Returns the number of queries without an outcome. */
uint64_t client_find_trial_open(const struct client_find *f);

/* Changes whenever a query becomes due or a late answer arrives. */
uint64_t client_find_trial_events(const struct client_find *f);

/* Takes what was collected in f->recorded since the last call as an interval of the trial: how much
 * the shares beyond the goals vary tells how certain they are.  A lost query is counted when it
 * times out, so the first intervals lack losses, and the drain has as many: they are one batch. */
void client_find_trial_add_interval(struct client_find *f);

/* Whether the trial, which has n_all queries, is certain to be bad, or is void and can no longer be
 * good, according to the values collected in f->recorded so far. */
bool client_find_trial_is_decided(const struct client_find *f, uint64_t n_all);

/* Whether the queries of a trial that was filled in, a window of the recovery, met the service
 * level again: at least one was due, at least half as many were answered as were due, and this host
 * sent them in time. */
bool client_find_trial_shows_recovery(const struct client_find *f,
                                      const struct client_find_trial *t);

/* Whether nothing is known of the server from such a window: no query was due, or this host decided
 * the outcome. */
bool client_find_trial_is_void(const struct client_find *f, const struct client_find_trial *t);

/* Fills in the figures, after everything recorded was collected in f->recorded. */
void client_find_trial_fill(const struct client_find *f, struct client_find_trial *t);

#endif
