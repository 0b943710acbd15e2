/* SPDX-License-Identifier: MIT
 * load: whether a server sustains a load, decided from several trials.  Pure.
 *
 * Follows "Load Classification Logic" of draft-ietf-bmwg-mlrsearch-15 (Konstantynowicz and Polak,
 * Multiple Loss Ratio Search, 2025).  Bad trials are its high-loss trials, weighted by duration.  A
 * load is decided as soon as the missing trials cannot change the result, so clear results save
 * time. */
#ifndef TCPSCALER_CLIENT_SEARCH_LOAD_H
#define TCPSCALER_CLIENT_SEARCH_LOAD_H

/* A load is an upper bound if more than this share of the trials is bad ("goal exceed ratio"):
 * with 11 trials, 6 of them.  If each is bad with probability 0.1, that happens once in 3,400. */
#define LOAD_EXCEED_RATIO 0.5

enum load_class { LOAD_UNDECIDED, LOAD_LOWER_BOUND, LOAD_UPPER_BOUND };

/* Total durations of a load's trials in seconds, full-length and shorter ones. */
struct load_sums {
    double full_good_s, full_bad_s, short_good_s, short_bad_s;
};

/* goal_s > 0: the total duration of full-length trials that decides ("goal duration sum"). */
enum load_class load_classify(const struct load_sums *sums, double goal_s);

#endif
