/* SPDX-License-Identifier: MIT
 * client_judge: see client/judge.h. */
#include "client/judge.h"

#include "client/sweep.h"
#include "host/diagnosis_server.h"

/* A lost segment is retransmitted after at most this time, Linux' minimum retransmission timeout.
 * What the connection sends in between waits behind it. */
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

/* The largest if it is among the unanswered, whose delay is not known. */
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

    own.beyond = response->beyond; /* the same ranks: the unanswered come last */
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
    if (sock_is_loopback(&plan->config.target)) {
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

const char *client_judge_classes(const struct client_result *r, uint32_t n_classes)
{
    struct class_values values[CLIENT_CLASS_MOST];

    for (uint32_t k = 0; k < n_classes; k++)
        values[k] = (struct class_values){r->class_times[k].response.count,
                                          r->class_times[k].response.beyond};
    return n_classes > 0 ? class_tally_check(r->class_tallies, values, n_classes, &r->tally) : NULL;
}

/* Returns the first law of conservation that the counts break, or NULL. */
static const char *broken_law(const struct client_result *r, const struct client_config *config)
{
    const struct hist *response = &r->metrics[CLIENT_RESPONSE];
    const char *law =
        tally_check(&r->tally, r->connections_requested, response->count, response->beyond);

    if (law == NULL && config->on_demand)
        law = tally_check_demand(&r->tally, config->keepalive);
    if (law == NULL)
        law = client_judge_classes(r, config->n_classes);
    if (law == NULL && r->has_rows &&
        tally_get(&r->tally.queries[TALLY_MEASURED].answered) +
                tally_get(&r->tally.push.measured) !=
            r->rows.written[1] + r->rows.dropped[1] + r->rows.left_out[1])
        law = "answered queries, messages = answer rows written, missing and not sampled";
    return law;
}

void client_judge(struct client_result *r, const struct client_plan *plan, unsigned required)
{
    const struct tally_queries *q = &r->tally.queries[TALLY_MEASURED];
    /* At any time, many are being replaced, or closed until a query is due. */
    const bool churns = plan->config.queries_per_conn > 0 || plan->config.on_demand;
    const struct tally_push *push = &r->tally.push;
    const struct hist *response = &r->metrics[CLIENT_RESPONSE];
    const double steal = host_counters_steal_percent(&r->host_after, &r->host_loaded);
    /* including those before the load: a shortage may have persisted */
    const uint64_t pressures = host_counters_memory_pressures(&r->host_after, &r->host_before);
    struct verdict_input *in = &r->verdict;

    *in = (struct verdict_input){
        .connections_wanted = r->connections_wanted,
        .connections_live = churns ? r->connections_wanted : r->connections_live,
        .scheduled = tally_get(&q->scheduled),
        .sent = tally_get(&q->sent),
        .unsent = tally_get(&q->unsent) - tally_get(&q->unconnected),
        .has_growth = r->has_growth,
        .in_flight_early = r->in_flight_early,
        .in_flight_late = r->in_flight_late,
        .rows_dropped = r->rows.dropped[0] + r->rows.dropped[1],
        .output_failed = r->rows.error != 0 || r->rows.out_of_patience,
        .has_steal = r->loaded && steal >= 0,
        .steal_percent = steal,
        .required = required,
        .datagrams_dropped = tally_get(&r->tally.datagrams.dropped),
        .tcp_memory_pressures = pressures != HOST_COUNTERS_UNKNOWN ? pressures : 0,
        .out_of_ports = churns ? tally_connections_by_reason(&r->tally, REASON_PORTS) : 0,
        .of_messages = plan->config.listens,
        .messages_missing =
            tally_get(&push->lost) + tally_get(&push->duplicate) + tally_get(&push->damaged),
        .unfinished = tally_get(&push->unfinished),
        .negative_latencies = tally_get(&push->negative),
        .start_was_missed = r->start.missed,
        .interrupted = r->interrupted,
        .cancelled = r->interrupted ? 0 : tally_get(&q->cancelled),
        .measured_nothing = (r->requested_qps > 0 && tally_get(&q->scheduled) == 0) ||
                            (plan->config.listens && response->count + response->beyond == 0),
    };

    /* on demand, queries that wait for a connection are sent after the schedule has ended */
    in->sent_on_schedule =
        in->scheduled == in->unsent || r->unblocked_ns == 0 || plan->config.on_demand
            ? 1.0
            : (double)in->sent / (double)(in->scheduled - in->unsent) * (double)r->scheduled_ns /
                  (double)r->unblocked_ns;
    r->broken_law = broken_law(r, &plan->config);
    judge_latency(plan, r, in);
    if (r->sweep != NULL)
        judge_search(r, in);
    r->doubts = verdict_judge(in);
}

/* Tuples that were in TIME_WAIT before the run and could not be reused. */
static uint64_t tuples_in_time_wait(const struct client_plan *plan, const struct client_result *r)
{
    if (!r->has_sockets || plan->sources.n_time_wait == HOST_LIMITS_UNKNOWN)
        return HOST_LIMITS_UNKNOWN;
    return plan->sources.n_time_wait < r->sockets.time_wait ? plan->sources.n_time_wait
                                                            : r->sockets.time_wait;
}

void client_diagnose(struct client_result *r, const struct client_plan *plan, bool threads_are_auto)
{
    const struct diagnosis_input in = {
        .tally = &r->tally,
        .target = plan->target,
        .protocol = plan->config.listens ? "listen" : plan->config.query.protocol->name,
        .over_tls = plan->config.tls != NULL,
        .over_udp = plan->config.socket.datagrams,
        .listens = plan->config.listens,
        .not_begun =
            r->gave_up ? r->connections_requested - tally_get(&r->tally.connections.attempted) : 0,
        .losses = &r->losses,
        .none_is_left = r->connections_live == 0 && !plan->config.on_demand,
        .server_was_tried = r->server_was_tried,
        .server_accepts = r->server_accepts,
        .deaf = r->connections_deaf,
        .live = r->connections_live,
        .half_open = r->connections_half_open,
        .host = &r->limits,
        .listen_overflows =
            host_counters_delta(r->host_after.listen_overflows, r->host_before.listen_overflows),
        .shortage = r->shortage[0] != '\0' ? r->shortage : NULL,
        .n_tuples = plan->sources.n_tuples,
        .tuples_in_time_wait = tuples_in_time_wait(plan, r),
        .in_time_wait = r->has_sockets ? r->sockets.time_wait : HOST_LIMITS_UNKNOWN,
        .threads_are_auto = threads_are_auto,
        .own_fd_tables = r->own_fd_tables,
        .on_demand = plan->config.on_demand,
        .reconnects = plan->config.reconnect,
        .churns = plan->config.queries_per_conn > 0 || plan->config.on_demand ||
                  plan->config.conn_per_query,
        .churn_per_s = client_result_churn_per_s(r),
    };

    if (in.deaf > 0 || diagnosis_server_never_answered(&in) ||
        (in.churns ? tally_connections_failed(&r->tally) > 0
                   : r->connections_live < r->connections_wanted))
        diagnosis_make(&r->diagnosis, &in);
}
