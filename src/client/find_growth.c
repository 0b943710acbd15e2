/* SPDX-License-Identifier: MIT
 * client_find_growth: see client/find_growth.h. */
#include "client/find_growth.h"

#include "measure/verdict.h"

void client_find_growth_reset(struct client_find *f)
{
    f->trend = f->trend_of_all = (struct trend){0};
}

/* Over the whole run, including the queries at the start of trials, which are not measured. */
static uint64_t n_in_flight(const struct client_find *f)
{
    uint64_t n_sent = 0, n_ended = 0;

    for (uint32_t i = 0; i < f->workers->n; i++)
        for (int c = TALLY_WARMUP; c <= TALLY_MEASURED; c++) {
            const struct tally_queries *q = &f->workers->all[i].figures.tally.queries[c];

            n_ended += tally_get(&q->answered) + tally_ended_unanswered(q);
            n_sent += tally_get(&q->sent);
        }
    return n_sent > n_ended ? n_sent - n_ended : 0; /* read one by one */
}

/* Queries, or connections opened for them: those wait for the server before they are sent. */
static uint64_t n_under_way(const struct client_find *f)
{
    return f->config->conn_per_query ? CLIENT_WORKERS_GAUGE(f->workers, n_opened_for_query)
                                     : CLIENT_WORKERS_GAUGE(f->workers, in_flight);
}

/* Queries, or connections opened for them, that were given up. */
static uint64_t n_timed_out(const struct client_find *f)
{
    const struct client_workers *w = f->workers;
    const uint64_t n = CLIENT_WORKERS_GAUGE(w, tally.queries[TALLY_MEASURED].timeout);

    if (!f->config->conn_per_query)
        return n;
    return n + CLIENT_WORKERS_GAUGE(w, tally.queries[TALLY_WARMUP].timeout) +
           CLIENT_WORKERS_GAUGE(w, tally.connections.ended[PHASE_CONNECT][REASON_TIMEOUT]) +
           CLIENT_WORKERS_GAUGE(w, tally.connections.ended[PHASE_TLS][REASON_TIMEOUT]);
}

void client_find_growth_sample(struct client_find *f, uint64_t now_ns)
{
    const uint64_t elapsed_ns = now_ns - f->measure_ns, length_ns = f->end_ns - f->measure_ns;

    trend_add_sample(&f->trend, n_under_way(f), elapsed_ns, length_ns);
    trend_add_sample(&f->trend_of_all, n_in_flight(f), elapsed_ns, length_ns);
}

void client_find_growth_sample_timeouts(struct client_find *f, uint64_t timeout_ns, uint64_t now_ns)
{
    if (now_ns >= f->measure_ns)
        trend_timed_out(&f->trend, n_timed_out(f), now_ns - f->measure_ns, timeout_ns);
}

/* Slow answers make the number of measured queries grow even without a queue, because none is in
 * flight at first.  If the queries from the start of the trial are counted, too, an overload has at
 * least 5/3 times as many in flight at the start of the last quarter as at the start of the second.
 */
bool client_find_growth_was_seen(const struct client_find *f, uint64_t timeout_ns)
{
    uint64_t early, late;

    if (!trend_least(&f->trend, &early, &late) || !verdict_has_grown(early, late))
        return false;
    trend_without_losses(&f->trend, timeout_ns, &early, &late);
    if (!verdict_has_grown(early, late))
        return false;
    return f->settings->what == CLIENT_FIND_CONNECT_RATE ||
           (trend_least(&f->trend_of_all, &early, &late) && late > early + early / 2);
}
