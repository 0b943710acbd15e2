/* SPDX-License-Identifier: MIT
 * client_diagnose: see client/diagnose.h. */
#include "client/diagnose.h"

#include "client/ports.h"
#include "client/sweep.h"
#include "host/diagnosis_silence.h"

/* Tuples that were in TIME_WAIT before the run and could not be reused. */
static uint64_t tuples_in_time_wait(const struct client_plan *plan, const struct client_result *r)
{
    if (!r->has_sockets || plan->sources.n_time_wait == HOST_LIMITS_UNKNOWN)
        return HOST_LIMITS_UNKNOWN;
    return plan->sources.n_time_wait < r->sockets.time_wait ? plan->sources.n_time_wait
                                                            : r->sockets.time_wait;
}

/* A UDP socket lives whether or not anybody listens. */
static bool target_serves(const struct client_plan *plan, const struct client_result *r,
                          const struct client_ports *ports)
{
    return r->connections_live > r->connections_unresponsive && ports->refusing_serve &&
           (!plan->config.socket.datagrams || tally_get(&r->tally.connections.proven) > 0);
}

/* A search ends with the connections of its last trial, even if other trials lacked some. */
static bool connections_are_missing(const struct client_result *r, bool churns)
{
    if (churns)
        return tally_connections_failed(&r->tally) > 0;
    return r->connections_live < r->connections_wanted ||
           (r->sweep != NULL && client_sweep_lacked_connections(r->sweep));
}

void client_diagnose(struct client_result *r, const struct client_plan *plan, bool threads_are_auto)
{
    const struct client_ports ports =
        client_ports_find(&plan->config, r->class_tallies, r->class_live);
    const struct diagnosis_input in = {
        .tally = &r->tally,
        .target = ports.refusing[0] != '\0' ? ports.refusing : plan->target,
        .target_serves = target_serves(plan, r, &ports),
        .has_classes = plan->config.n_classes > 0,
        .silent = ports.silent[0] != '\0' ? ports.silent : NULL,
        .lost = ports.lost[0] != '\0' ? ports.lost : NULL,
        .protocol = plan->config.listens ? "listen" : plan->config.query.protocol->name,
        .over_tls = client_config_is_all_tls(&plan->config),
        .over_udp = plan->config.socket.datagrams,
        .with_proxy_headers = plan->config.proxy != PROXY_HEADER_NONE,
        .listens = plan->config.listens,
        .not_begun = r->gave_up ? client_result_n_not_attempted(r) : 0,
        .losses = &r->losses,
        .none_is_left = r->connections_live == 0,
        .server_was_tried = r->server_was_tried,
        .server_accepts = r->server_accepts,
        .unresponsive = r->connections_unresponsive,
        .live = r->connections_live,
        .answering = tally_get(&r->tally.connections.answering),
        .half_open = r->connections_half_open,
        .host = &r->limits,
        .listen_overflows = client_accept_queue_overflows(&r->queue_before, &r->queue_after),
        .shortage = r->shortage[0] != '\0' ? r->shortage : NULL,
        .n_tuples = plan->sources.n_tuples,
        .tuples_in_use = plan->sources.n_in_use,
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

    if (in.unresponsive > 0 || diagnosis_silence_never_answered(&in) ||
        connections_are_missing(r, in.churns))
        diagnosis_make(&r->diagnosis, &in);
}
