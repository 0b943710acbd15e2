/* SPDX-License-Identifier: MIT
 * client_find: runs the trials of a capacity search (client/search/search.h).
 *
 * The connections stay open and only the load changes; in a search for connections per second, each
 * query opens a connection of its own.  A trial waits until all connections are live, sends at its
 * rate, leaves out queries that become due during the transition, measures, and then sends nothing
 * until every query has its outcome, so that an overload does not affect the next trial; then it
 * collects what the workers recorded and judges it.  A query belongs to the trial in which it
 * became due, however late its answer.  Main thread only. */
#ifndef TCPSCALER_CLIENT_FIND_H
#define TCPSCALER_CLIENT_FIND_H

#include "client/find_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The caller sets f->settings; everything else is borrowed.  Returns 0, or -1 if out of memory.
 */
int client_find_init(struct client_find *f, const struct client_config *run,
                     struct client_steer *steer, struct client_workers *workers,
                     struct client_intervals *intervals);
void client_find_free(struct client_find *f); /* also if all zero */

/* Begins the load, without queries. */
void client_find_begin(struct client_find *f, uint64_t begin_ns);

/* Call it every 20 ms.  Returns false when the search is over. */
bool client_find_look(struct client_find *f, uint64_t now_ns);

/* Ends the search on request. */
void client_find_stop(struct client_find *f);

/* Describes the current step, for the progress line, in n_bytes of text. */
void client_find_describe(const struct client_find *f, char *text, size_t n_bytes);

#endif
