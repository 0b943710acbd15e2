/* SPDX-License-Identifier: MIT
 * search: searches for the highest load that a server sustains within a service level: which trial
 * comes next.  client/search/search_bounds.h has what the trials show.  Pure: runs no trial itself
 * and reads no clock.
 *
 *   while (search_next(&s, elapsed_ns, &order))
 *       run the trial; search_take(&s, &judgment) or, for SEARCH_RECOVER, search_take_recovery()
 *
 * Follows draft-ietf-bmwg-mlrsearch-15: the result is the largest load that is a lower bound and
 * lies below every load that is an upper bound (the relevant lower bound), so a lucky trial at a
 * high load does not count.  The bounds narrow in rounds, each with more or longer trials per load
 * than the previous one: doubling until a trial is bad, then bisection of the logarithm of the
 * load.  Each round starts with its lower load, because an overload can have an aftereffect on the
 * server.  A long trial at the lower bound or slightly below it then confirms it; if that fails,
 * the first of a few lower loads at which a long trial meets its goals becomes the lower bound.
 * While there is time, further long trials narrow the bounds between it and the loads that failed.
 * Out of time in the last round, the search confirms the bounds that it has.  Finally an overload
 * shows how long the server takes to recover. */
#ifndef TCPSCALER_CLIENT_SEARCH_SEARCH_H
#define TCPSCALER_CLIENT_SEARCH_SEARCH_H

#include "client/search/search_state.h"
#include "client/search/trial.h"

#include <stdbool.h>
#include <stdint.h>

/* Relative to the lower bound: the loads of overload and recovery. */
#define SEARCH_OVERLOAD_PART 1.5
#define SEARCH_RECOVER_PART  0.9

/* A server that has not recovered after this time does not recover.  A search with less time left
 * can only tell that one does. */
#define SEARCH_RECOVER_NS 30000000000ull

void search_init(struct search *s, const struct search_config *config);

/* Returns the shortest time limit with which a search can begin, whatever config->time_ns is: it
 * must allow for the first trial and a confirmation.  Returns the load and the length of that trial
 * in *first. */
uint64_t search_least_time_ns(const struct search_config *config, struct search_order *first);

/* Returns the next trial in *order, after elapsed_ns of the search.  Returns false when the search
 * is over: s->status is no longer SEARCH_RUNNING. */
bool search_next(struct search *s, uint64_t elapsed_ns, struct search_order *order);

/* The last order could not be carried out: only this load was reached, which is therefore the next
 * to try if it lies between the bounds.  Call it before search_take(). */
void search_held(struct search *s, double load);

/* The trial of the last order did not begin (0), or ended after measured_ns because it could no
 * longer be good.  Call it before search_take(). */
void search_ended_early(struct search *s, uint64_t measured_ns);

/* Takes the outcome of the last order. */
void search_take(struct search *s, struct trial_judgment judgment);
void search_take_recovery(struct search *s, uint64_t recovery_ns);

/* Ends a running search, keeping what is known: inconclusive, unless its answer is confirmed. */
void search_stop(struct search *s, enum search_reason reason);

/* The server has gone: ends the search.  Trials from `first` on are void, but for those up to the
 * confirmation of an answer.  A search without one is inconclusive, even if these trials had ended
 * it. */
void search_lose_server(struct search *s, size_t first);

#endif
