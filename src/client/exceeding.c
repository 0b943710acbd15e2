/* SPDX-License-Identifier: MIT
 * client_exceeding: see client/exceeding.h. */
#include "client/exceeding.h"

/* From one limit to the next higher one. */
enum { LIMIT_STEP = 2 };

enum client_metric client_exceeding_connecting(bool over_tls)
{
    return over_tls ? CLIENT_DUE_SECURED : CLIENT_DUE_CONNECTED;
}

/* Returns the sum.  UINT64_MAX means any number, and so does a sum with it. */
static uint64_t add(uint64_t n_own, uint64_t n)
{
    return n_own > UINT64_MAX - n ? UINT64_MAX : n_own + n;
}

static struct trial_exceeding above(const struct hist *times, const struct hist *own_delays,
                                    uint64_t limit_ns, uint64_t n_own)
{
    return (struct trial_exceeding){
        .n = hist_count_above(times, limit_ns),
        .of = times->count + times->beyond,
        .own = add(n_own, hist_count_above(own_delays, limit_ns / TRIAL_OWN_PART)),
    };
}

/* What misses a goal with a higher limit misses this one, too, and fewer of this host's delays
 * count there.  A limit above ten times the longest of them leaves all of them out. */
static uint64_t count_far(const struct hist *times, const struct hist *own_delays,
                          uint64_t limit_ns, uint64_t n_own)
{
    uint64_t far = 0;

    while (limit_ns / TRIAL_OWN_PART <= own_delays->max_ns && limit_ns < HIST_HIGHEST_NS) {
        struct trial_exceeding e;

        limit_ns *= LIMIT_STEP;
        e = above(times, own_delays, limit_ns, n_own);
        if (e.n > e.own && e.n - e.own > far)
            far = e.n - e.own;
    }
    return far;
}

static struct trial_exceeding later(const struct hist *times, const struct hist *own_delays,
                                    uint64_t limit_ns, uint64_t n_own)
{
    struct trial_exceeding e = above(times, own_delays, limit_ns, n_own);

    if (e.n > 0 && e.own > 0)
        e.far = count_far(times, own_delays, limit_ns, n_own);
    return e;
}

static struct trial_exceeding exceeding(const struct slo_goal *goal,
                                        const struct client_exceeding_input *in, uint64_t n_due)
{
    const struct hist *metrics = in->metrics;

    switch (goal->metric) {
    case SLO_LOST: /* queries of connections that were never opened were never sent */
        return (struct trial_exceeding){
            .n = in->n_lost, .of = n_due, .own = add(in->n_own, metrics[in->own].beyond)};
    case SLO_CONNECT:
        return later(&metrics[client_exceeding_connecting(in->over_tls)], &metrics[CLIENT_OPEN_LAG],
                     goal->limit_ns, in->n_own_connections);
    case SLO_SERVICE:
        return later(&metrics[CLIENT_SERVICE], &metrics[in->own], goal->limit_ns, in->n_own);
    case SLO_RESPONSE:
        break;
    }
    return later(&metrics[CLIENT_RESPONSE], &metrics[in->own], goal->limit_ns, in->n_own);
}

void client_exceeding_count(const struct slo *slo, const struct client_exceeding_input *in,
                            struct trial_figures *figures)
{
    for (unsigned i = 0; i < slo->n; i++)
        figures->goals[i] = exceeding(&slo->goals[i], in, figures->n_due);
    figures->n_behind = hist_count_above(&in->metrics[in->own], in->length_ns / TRIAL_BEHIND_PART);
}
