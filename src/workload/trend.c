/* SPDX-License-Identifier: MIT
 * trend: see workload/trend.h. */
#include "workload/trend.h"

#include <math.h>

/* How much chance may add to the losses: this many standard deviations, but at most this part of
 * the losses in the second quarter; the limit on growth allows for as much. */
#define MOST_DEVIATIONS 4
#define CHANCE_PART     0.5

static bool add(struct trend_quarter *q, uint64_t in_flight, uint64_t elapsed_ns)
{
    const bool is_least = q->n++ == 0 || in_flight < q->least;

    if (is_least) {
        q->least = in_flight;
        q->at_ns = elapsed_ns;
    }
    return is_least;
}

void trend_add_sample(struct trend *t, uint64_t in_flight, uint64_t elapsed_ns,
                      uint64_t duration_ns)
{
    const uint64_t quarter_ns = duration_ns / 4;

    if (elapsed_ns >= quarter_ns && elapsed_ns < 2 * quarter_ns) {
        if (add(&t->early, in_flight, elapsed_ns)) {
            t->n_timed_out_before = t->n_timed_out;
            t->n_lost = 0;
        }
    } else if (elapsed_ns >= 3 * quarter_ns) {
        (void)add(&t->late, in_flight, elapsed_ns);
    }
}

void trend_timed_out(struct trend *t, uint64_t n, uint64_t elapsed_ns, uint64_t timeout_ns)
{
    t->n_timed_out = n;
    if (t->early.n > 0 && elapsed_ns <= t->early.at_ns + timeout_ns)
        t->n_lost = n - t->n_timed_out_before;
}

bool trend_least(const struct trend *t, uint64_t *early, uint64_t *late)
{
    *early = t->early.least;
    *late = t->late.least;
    return t->early.n > 0 && t->late.n > 0;
}

/* Returns the length of the period in which the lost queries that were still in flight had been
 * sent. */
static double sent_for_ns(const struct trend_quarter *q, uint64_t timeout_ns)
{
    return fmin((double)q->at_ns, (double)timeout_ns);
}

static uint64_t without(uint64_t in_flight, double n_lost)
{
    return (double)in_flight > n_lost ? in_flight - (uint64_t)n_lost : 0;
}

void trend_without_losses(const struct trend *t, uint64_t timeout_ns, uint64_t *early,
                          uint64_t *late)
{
    const double n_lost = (double)t->n_lost;
    const double ratio = sent_for_ns(&t->late, timeout_ns) / sent_for_ns(&t->early, timeout_ns);
    const double mean = ratio * n_lost, deviation = sqrt(mean * (1 + ratio));

    *early = without(t->early.least, n_lost);
    *late = without(t->late.least, mean + fmin(MOST_DEVIATIONS * deviation, CHANCE_PART * n_lost));
}
