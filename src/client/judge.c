/* SPDX-License-Identifier: MIT
 * client_judge: see client/judge.h. */
#include "client/judge.h"

#include "client/laws.h"
#include "client/sweep.h"

/* A lost segment is retransmitted after at most this time, the minimum retransmission timeout of
 * Linux.  Whatever the connection sends in between waits for it. */
#define LOSS_S 0.2

static uint64_t delayed_by_loss(const struct client_result *r, uint64_t n_latencies)
{
    const uint64_t lost = client_result_lost_segments(r);
    const double per_s =
        r->scheduled_ns > 0 && r->connections_live > 0
            ? (double)n_latencies * 1e9 / (double)r->scheduled_ns / (double)r->connections_live
            : 0;
    const double n = (double)lost * (1 + per_s * LOSS_S);

    return n < (double)n_latencies ? (uint64_t)n : n_latencies;
}

/* Returns the highest value if the percentile falls among unanswered queries, whose delay is
 * unknown. */
static uint64_t known_percentile(const struct hist *h, const struct latency_percentile *p)
{
    const uint64_t value_ns = hist_percentile(h, p->num, p->den);

    return value_ns == HIST_BEYOND ? h->max_ns : value_ns;
}

static void judge_latency(const struct client_plan *plan, const struct client_result *r,
                          struct verdict_input *in)
{
    const struct hist *response = &r->metrics[CLIENT_RESPONSE];
    struct hist own = r->metrics[CLIENT_OWN];

    own.beyond = response->beyond; /* the same ranks: unanswered queries come last */
    in->n_latencies = response->count + response->beyond;
    in->has_latency = in->n_latencies > 0;
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++) {
        const struct latency_percentile *p = &latency_percentiles[i];

        in->percentiles[i].response_ns = hist_percentile(response, p->num, p->den);
        in->percentiles[i].own_ns = known_percentile(&own, p);
    }
    in->percentiles[LATENCY_N_PERCENTILES].response_ns =
        response->beyond > 0 ? HIST_BEYOND : response->max_ns;
    in->percentiles[LATENCY_N_PERCENTILES].own_ns = own.max_ns;
    if (plan->config.target_is_here) {
        in->lost_segments = client_result_lost_segments(r);
        in->n_delayed_by_loss = delayed_by_loss(r, in->n_latencies);
    }
}

/* A search overloads the server on purpose and judges every trial; of the whole run, only the
 * answer is judged. */
static void judge_search(const struct client_result *r, struct verdict_input *in)
{
    in->search_is_inconclusive = !client_sweep_is_conclusive(r->sweep);
    in->connections_live = in->connections_wanted;
    in->unsent = in->cancelled = in->out_of_ports = in->datagrams_dropped = 0;
    in->sent_on_schedule = 1;
    in->has_growth = in->has_latency = false;
}

/* Whether connections that follow one another were used: at any time, many are being replaced. */
static bool was_replaced(uint32_t queries_per_conn, const struct tally_queries *queries)
{
    return queries_per_conn > 0 && tally_get(&queries[TALLY_MEASURED].scheduled) +
                                           tally_get(&queries[TALLY_WARMUP].scheduled) >
                                       0;
}

/* After the load, connections that fail are not replaced any more. */
static uint64_t n_live(const struct client_config *config, uint64_t loaded, uint64_t at_end)
{
    return config->reconnect && loaded > at_end ? loaded : at_end;
}

static uint64_t n_live_of_classes(const struct client_config *config, const struct client_result *r)
{
    uint64_t n = 0;

    for (uint32_t k = 0; k < config->n_classes; k++) {
        const struct client_class *class = &config->classes[k];

        n += was_replaced(class->queries_per_conn, r->class_tallies[k].queries)
                 ? class->n_connections
                 : n_live(config, r->class_live_loaded[k], r->class_live[k]);
    }
    return n;
}

/* Those that are being replaced, or are closed until a query is due, count as live. */
static uint64_t n_live_or_due(const struct client_config *config, const struct client_result *r)
{
    if (config->on_demand)
        return r->connections_wanted;
    if (config->n_classes > 0)
        return n_live_of_classes(config, r);
    return was_replaced(config->queries_per_conn, r->tally.queries)
               ? r->connections_wanted
               : n_live(config, r->connections_live_loaded, r->connections_live);
}

void client_judge(struct client_result *r, const struct client_plan *plan, unsigned required)
{
    const struct tally_queries *q = &r->tally.queries[TALLY_MEASURED];
    const bool churns = plan->config.queries_per_conn > 0 || plan->config.on_demand;
    const struct tally_push *push = &r->tally.push;
    const struct hist *response = &r->metrics[CLIENT_RESPONSE];
    const double steal = host_counters_steal_percent(&r->host_after, &r->host_loaded);
    /* including shortages before the load, which may have persisted */
    const uint64_t pressures = host_counters_memory_pressures(&r->host_after, &r->host_before);
    struct verdict_input *in = &r->verdict;

    *in = (struct verdict_input){
        .connections_wanted = r->connections_wanted,
        .connections_live = n_live_or_due(&plan->config, r),
        .scheduled = tally_get(&q->scheduled),
        .unsent = tally_get(&q->unsent) - tally_get(&q->unconnected),
        .has_growth = r->has_growth,
        .in_flight_early = r->in_flight_early,
        .in_flight_late = r->in_flight_late,
        .rows_dropped = r->rows.dropped[0] + r->rows.dropped[1],
        .output_failed = r->rows.error != 0 || r->rows.timed_out,
        .has_steal = r->loaded && steal >= 0,
        .steal_percent = steal,
        .required = required,
        .longest_hold_ns = r->longest_hold_ns,
        .datagrams_dropped = tally_get(&r->tally.datagrams.dropped),
        .tcp_memory_pressures = pressures != HOST_COUNTERS_UNKNOWN ? pressures : 0,
        .out_of_ports = churns ? tally_connections_by_reason(&r->tally, REASON_PORTS) : 0,
        .of_messages = plan->config.listens,
        .messages_missing =
            tally_get(&push->lost) + tally_get(&push->duplicate) + tally_get(&push->damaged),
        .unfinished = tally_get(&push->unfinished),
        .negative_latencies = tally_get(&push->negative),
        .start_was_missed = r->start.missed,
        /* not a listener that waited for messages in vain */
        .interrupted = r->interrupted && !(plan->config.listens && r->scheduled_ns > 0),
        .cancelled = r->interrupted ? 0 : tally_get(&q->cancelled),
        .measured_nothing =
            ((r->requested_qps > 0 || plan->rate_qps > 0) && tally_get(&q->scheduled) == 0) ||
            (plan->config.listens && response->count + response->beyond == 0),
    };

    /* on demand, queries that wait for a connection are sent after the schedule has ended */
    in->sent_on_schedule = r->unblocked_ns == 0 || plan->config.on_demand
                               ? 1.0
                               : (double)r->scheduled_ns / (double)r->unblocked_ns;
    r->broken_law = client_laws_broken(r, &plan->config);
    judge_latency(plan, r, in);
    if (r->sweep != NULL)
        judge_search(r, in);
    r->doubts = verdict_judge(in);
}
