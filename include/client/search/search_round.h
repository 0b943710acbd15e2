/* SPDX-License-Identifier: MIT
 * search_round: the rounds of a search, each with more or longer trials per load than the previous
 * one, and what the trials of a load show in a round.  round: 0 to SEARCH_ROUNDS - 1.  Pure. */
#ifndef TCPSCALER_CLIENT_SEARCH_SEARCH_ROUND_H
#define TCPSCALER_CLIENT_SEARCH_SEARCH_ROUND_H

#include "client/search/load.h"
#include "client/search/search_state.h"

#include <stdbool.h>
#include <stdint.h>

#define SEARCH_ROUNDS 4u

/* The round is over once the bounds are this close: (upper - lower) / upper. */
double search_round_width(const struct search *s, unsigned round);

/* How long its trials of a load last. */
uint64_t search_round_trial_ns(const struct search *s, unsigned round, double load);

/* Whether a trial counts for the bounds: not confirmation, overload or recovery. */
bool search_round_counts(const struct search_trial *t);

enum load_class search_round_class(const struct search *s, unsigned round, double load);

/* Return the smallest upper bound above a load, and the largest lower bound below one; 0: none. */
double search_round_upper(const struct search *s, unsigned round, double above);
double search_round_lower(const struct search *s, unsigned round, double below);

#endif
