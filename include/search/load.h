/* SPDX-License-Identifier: MIT
 * load: whether a server sustains a load, decided from several trials of it.  Pure.
 *
 * Follows "Load Classification Logic" of draft-ietf-bmwg-mlrsearch-15 (Konstantynowicz and Polak,
 * Multiple Loss Ratio Search, 2025).  Bad trials are its high-loss trials, and durations are the
 * weights.  A load is decided as soon as the trials still missing cannot change the outcome, so
 * one-sided results save time. */
#ifndef TCPSCALER_SEARCH_LOAD_H
#define TCPSCALER_SEARCH_LOAD_H

/* A load is an upper bound if more than this share of the trials is bad ("goal exceed ratio"):
 * with 11 trials, 6 of them.  If each is bad with probability 0.1, that happens once in 3,400. */
#define LOAD_EXCEED_RATIO 0.5

enum load_class { LOAD_UNDECIDED, LOAD_LOWER_BOUND, LOAD_UPPER_BOUND };

/* Durations of the trials of a load, in seconds: of those that have the full length, and of shorter
 * ones. */
struct load_sums {
    double full_good_s, full_bad_s, short_good_s, short_bad_s;
};

/* goal_s > 0: the duration of full-length trials that decides ("goal duration sum"). */
enum load_class load_classify(const struct load_sums *sums, double goal_s);

#endif
