/* SPDX-License-Identifier: MIT
 * search_bounds: what the trials of a search show: the bounds of the answer, and the answer.  Loads
 * are in the unit of the search; 0: none.  Pure. */
#ifndef TCPSCALER_CLIENT_SEARCH_SEARCH_BOUNDS_H
#define TCPSCALER_CLIENT_SEARCH_SEARCH_BOUNDS_H

#include "client/search/search_state.h"

/* Gets the relevant bounds of a round: the smallest load that is an upper bound, and the largest
 * lower bound below it. */
void search_bounds_of_round(const struct search *s, unsigned round, double *lower, double *upper);

/* Gets the bounds to confirm: those of this round or, while it has none, of earlier ones. */
void search_bounds_to_confirm(const struct search *s, double *lower, double *upper);

/* Gets the bounds to report: those to confirm, as changed by the confirmations.  If only a load
 * below the lower one was confirmed, it is the lower bound.  A load that long trials refuted is an
 * upper bound: four more of them were bad than good, or one more if there is no other upper bound
 * or nothing was confirmed. */
void search_bounds(const struct search *s, double *lower, double *upper);

/* Returns the answer of a search that is over: search_confirm_capacity(), which a good long trial
 * at SEARCH_CONFIRM_PART of it confirmed, or the lower bound if long trials above that were bad
 * beyond doubt; 0: no answer. */
double search_capacity(const struct search *s);

#endif
