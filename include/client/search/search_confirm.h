/* SPDX-License-Identifier: MIT
 * search_confirm: the long trials that confirm the capacity of a search, or a load below it.
 *
 * The first load is SEARCH_CONFIRM_PART of the capacity; if it fails, lower loads follow, at
 * distances that double.  The best of three trials decides a load, none shorter than planned: no
 * shorter trial outvotes a longer one, and no single failure is trusted, since noise spoils long
 * trials, too.  The first load has these trials at once.  A lower one that missed a goal is passed
 * over, unless there is none below it: long trials have shown already that the short ones promise
 * too much, and client/search/search_narrow.h returns to it.  One that met its goals, but perhaps
 * by chance (TRIAL_IN_DOUBT), proves nothing; the second of a load ends it.  Where the time does
 * not suffice to outvote a failure, the next load has it, in a shorter trial if need be.  Pure. */
#ifndef TCPSCALER_CLIENT_SEARCH_SEARCH_CONFIRM_H
#define TCPSCALER_CLIENT_SEARCH_SEARCH_CONFIRM_H

#include "client/search/search_state.h"

#include <stdbool.h>
#include <stdint.h>

/* The load of the first confirmation, as a part of the capacity.  The server should sustain 0.95 of
 * the capacity in a later run.  Confirming at 0.95 is not enough for that: four of nine answers for
 * unbound on a shared machine were refuted.  With 0.975, no more of 6,000 simulated searches fail
 * to confirm than with 0.95. */
#define SEARCH_CONFIRM_PART 0.975

/* The length that is planned for a confirmation: a fifth of the search, at most 60 s. */
uint64_t search_confirm_ns(const struct search *s);

/* Returns the shortest time of a search that leaves this much, > 0, in addition to such a
 * confirmation. */
uint64_t search_confirm_least_time_ns(uint64_t rest_ns);

/* The length of one that begins after elapsed_ns of the search: as planned and no shorter than a
 * failed one was measured; longer, up to 60 s, while there is time for another one as long.  With
 * less time left, all of that if it is at least half of the plan and no failed one was longer;
 * else 0. */
uint64_t search_confirm_fitting_ns(const struct search *s, uint64_t elapsed_ns);

/* Returns how many confirmations there are time and trials for, after elapsed_ns of the search;
 * ..._in_full: the last one of a search, too, has at least the length of the others. */
unsigned search_confirm_left(const struct search *s, uint64_t elapsed_ns);
unsigned search_confirm_left_in_full(const struct search *s, uint64_t elapsed_ns);

/* Returns the capacity that is claimed if its confirmation succeeds: the geometric mean of the
 * bounds, but at most what makes the lower one the load of the confirmation.  Of connections, which
 * a limit often counts exactly, no more than were held: the lower bound.  upper: 0: none. */
double search_confirm_capacity(const struct search_config *config, double lower, double upper);

/* Returns the load of the first confirmation between these bounds. */
double search_confirm_first(const struct search *s, double lower, double upper);

/* Returns the load to confirm next if there is time for n_left confirmations: the first, from
 * `first` down, that they can still confirm and that is not passed over.  0: no load is left. */
double search_confirm_load(const struct search *s, double first, unsigned n_left);

/* Whether more confirmations of this load met the goals than missed one. */
bool search_confirm_succeeded(const struct search *s, double load);

/* Whether the void confirmations of this load outnumber the others too far to try again.  Without
 * time or trials for another one (n_left is 0), fewer are enough. */
bool search_confirm_is_void(const struct search *s, double load, unsigned n_left);

/* Whether any confirmation was bad. */
bool search_confirm_failed(const struct search *s);

/* Whether more confirmations of higher loads missed a goal than met all, if only by chance. */
bool search_confirm_missed_above(const struct search *s, double load);

/* Returns the smallest load above a confirmed one of which a confirmation missed a goal, or more
 * than one was in doubt; 0: none. */
double search_confirm_failed_above(const struct search *s, double above);

/* Returns the smallest load above another one that was not confirmed, where at least n_least more
 * confirmations of it and of loads between the two missed a goal than were good; those in doubt
 * count like these if none was good.  One that was in doubt only once is not returned.  0: none.
 * n_least >= 1. */
double search_confirm_refuted(const struct search *s, double above, unsigned n_least);

#endif
