/* SPDX-License-Identifier: MIT
 * client_run_result: see client/run_result.h. */
#include "client/run_result.h"

#include "base/clock.h"
#include "base/shutdown.h"
#include "client/destinations.h"
#include "measure/verdict.h"

void client_run_read_host(struct client_run_state *r, struct host_counters *host,
                          struct netdev_counters *net)
{
    struct client_result *result = r->result;

    host_counters_read(host);
    if (result->has_interface)
        result->has_interface =
            netdev_read(result->interface, net) == 0 && netdev_counts_on(net, &result->net_loaded);
}

uint64_t client_run_end_of_load_ns(const struct client_run_state *r)
{
    return r->result->interrupted && r->stopped_ns < r->end_ns ? r->stopped_ns : r->end_ns;
}

static enum client_state state_of(const struct client_run_state *r, uint64_t now_ns)
{
    if (!r->started)
        return CLIENT_RUN_CONNECTING;
    if (r->closing || now_ns >= client_run_end_of_load_ns(r))
        return CLIENT_RUN_DRAINING;
    return r->steer.paused ? CLIENT_RUN_PAUSED : CLIENT_RUN_RUNNING;
}

/* While the workers go on counting. */
static void read_tallies(const struct client_workers *workers, struct client_result *result)
{
    client_workers_tally(workers, &result->tally);
    client_workers_class_tallies(workers, result->class_tallies);
    for (int class = 0; class < TALLY_N_CLASSES; class ++) {
        const uint64_t n_in_flight = tally_settle_queries(&result->tally.queries[class]);

        if (class == TALLY_MEASURED)
            result->in_flight = n_in_flight;
        for (unsigned k = 0; k < CLIENT_CLASS_MOST; k++)
            tally_settle_queries(&result->class_tallies[k].queries[class]);
    }
}

void client_run_snapshot(void *context, struct client_result *result)
{
    struct client_run_state *r = context;
    const uint64_t now_ns = clock_now_ns(), end_ns = client_run_end_of_load_ns(r);
    const uint64_t until_ns = now_ns < end_ns ? now_ns : end_ns;

    *result = *r->result;
    result->state = state_of(r, now_ns);
    result->own_fd_tables = r->config->own_fd_tables;
    read_tallies(&r->workers, result);
    client_workers_connections(&r->workers, result);
    client_run_read_host(r, &result->host_after, &result->net_after);
    result->has_interface = r->result->has_interface; /* set by the call above */
    result->requested_qps = r->settings->rate_qps;
    if (!r->started)
        return;
    result->load_ns = until_ns > r->begin_ns ? until_ns - r->begin_ns : 0;
    result->scheduled_ns = until_ns > r->measure_ns ? until_ns - r->measure_ns : 0;
    result->sent_ns = result->unblocked_ns = result->scheduled_ns;
    result->rate_now_qps = now_ns < end_ns ? client_steer_rate_qps(&r->steer, now_ns) : 0;
    result->requested_qps =
        client_steer_requested_qps(&r->steer, r->settings->rate_qps, result->scheduled_ns);
    result->paused_ns = client_steer_paused_ns(&r->steer, until_ns);
}

/* The requested duration, or the part of it before the interruption. */
static uint64_t measured_ns(const struct client_run_state *r)
{
    const uint64_t asked_ns = r->end_ns == PACER_NEVER    ? PACER_NEVER
                              : r->end_ns > r->measure_ns ? r->end_ns - r->measure_ns
                                                          : 0;
    uint64_t passed_ns;

    if (!r->started)
        return 0;
    if (!r->result->interrupted)
        return asked_ns;
    passed_ns = r->stopped_ns > r->measure_ns ? r->stopped_ns - r->measure_ns : 0;
    return passed_ns < asked_ns ? passed_ns : asked_ns;
}

/* From the start of the measurement until last_ns, but at least the length of the measurement. */
static uint64_t until_ns(const struct client_run_state *r, uint64_t last_ns)
{
    const uint64_t scheduled_ns = r->result->scheduled_ns;

    return last_ns > r->measure_ns + scheduled_ns ? last_ns - r->measure_ns : scheduled_ns;
}

/* From the first query on, including the warm-up and not the drain. */
static uint64_t load_ns(const struct client_run_state *r)
{
    const uint64_t end_ns = client_run_end_of_load_ns(r);

    return r->started && end_ns > r->begin_ns ? end_ns - r->begin_ns : 0;
}

/* When the rate grows, more queries are in flight even without a queue, as with more connections in
 * a closed loop. */
static bool is_steady(const struct client_run_state *r)
{
    const struct client_config *config = r->config;
    const struct client_targets *targets = &r->steer.targets;
    const bool keeps_number =
        schedule_is_constant(&config->population) && targets->n_connections == config->n_at_begin;

    return schedule_is_constant(&targets->schedule) &&
           (config->loop != CLIENT_LOOP_CLOSED || keeps_number);
}

static bool grows_without_losses(const struct client_run_state *r)
{
    uint64_t early, late;

    trend_without_losses(&r->trend, r->config->timeout_ns, &early, &late);
    return verdict_has_grown(early, late);
}

static uint64_t later(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

/* Workers learn of an interruption a moment later; until then they send what is due, and listeners
 * measure. */
void client_run_collect(struct client_run_state *r)
{
    struct client_result *result = r->result;
    uint64_t last_sent_ns, last_unblocked_ns;

    client_intervals_finish(&r->intervals, clock_now_ns());
    result->log_failed = r->intervals.failed;
    client_workers_collect(&r->workers, result, &last_sent_ns, &last_unblocked_ns);
    if (result->interrupted)
        r->stopped_ns =
            later(r->stopped_ns, later(last_sent_ns, client_workers_stopped_ns(&r->workers)));
    if (r->config->on_demand)
        result->connect_elapsed_ns = 0; /* connections open throughout the run */
    result->scheduled_ns = measured_ns(r);
    result->load_ns = load_ns(r);
    result->loaded = result->load_ns > 0; /* not if it ended in the settle time */
    result->requested_qps =
        client_steer_requested_qps(&r->steer, r->settings->rate_qps, result->scheduled_ns);
    result->steered = r->steer.changed;
    result->paused_ns = client_steer_paused_ns(&r->steer, r->measure_ns + result->scheduled_ns);
    result->sent_ns = until_ns(r, last_sent_ns);
    result->unblocked_ns = until_ns(r, last_unblocked_ns);
    result->has_growth =
        trend_least(&r->trend, &result->in_flight_early, &result->in_flight_late) && is_steady(r) &&
        grows_without_losses(r);
}

void client_run_try_server(struct client_run_state *r)
{
    const struct client_config *config = r->config;
    struct client_result *result = r->result;

    if (result->interrupted || result->losses.idle_us.count == 0 || config->socket.datagrams ||
        (result->connections_live > 0 && config->n_classes == 0))
        return;
    result->server_accepts = client_destinations_accept(config, result->class_live);
    result->server_was_tried = !shutdown_was_requested(); /* which ends the wait for it */
}
