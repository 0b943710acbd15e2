/* SPDX-License-Identifier: MIT
 * client_diagnose: see client/diagnose.h. */
#include "client/diagnose.h"

#include "base/units.h"
#include "client/destinations.h"
#include "host/diagnosis_silence.h"

#include <stdio.h>
#include <string.h>

#define REFUSING_BYTES (SOCK_TEXT_BYTES + 24)

/* Tuples that were in TIME_WAIT before the run and could not be reused. */
static uint64_t tuples_in_time_wait(const struct client_plan *plan, const struct client_result *r)
{
    if (!r->has_sockets || plan->sources.n_time_wait == HOST_LIMITS_UNKNOWN)
        return HOST_LIMITS_UNKNOWN;
    return plan->sources.n_time_wait < r->sockets.time_wait ? plan->sources.n_time_wait
                                                            : r->sockets.time_wait;
}

static uint64_t n_refused(const struct client_plan *plan, const struct client_result *r,
                          const struct sock_address *server)
{
    const struct client_class *classes = plan->config.classes;
    uint64_t n = 0;

    for (uint32_t k = 0; k < plan->config.n_classes; k++)
        if (sock_port(&classes[k].target) == sock_port(server))
            n += tally_get(&r->class_tallies[k].refused);
    return n;
}

/* "192.0.2.1:4243 and 2 other ports"; without classes, the target. */
static const char *refusing(char text[REFUSING_BYTES], const struct client_plan *plan,
                            const struct client_result *r)
{
    const struct sock_address *servers[CLIENT_CLASS_MOST];
    const unsigned n_servers = client_destinations(&plan->config, servers);
    unsigned n = 0;
    size_t n_bytes;

    for (unsigned i = 0; i < n_servers; i++)
        if (n_refused(plan, r, servers[i]) > 0 && n++ == 0)
            sock_format(text, servers[i]);
    if (n == 0)
        return plan->target;
    n_bytes = strlen(text);
    if (n > 1)
        snprintf(text + n_bytes, REFUSING_BYTES - n_bytes, " and %u other %s", n - 1,
                 units_noun(n - 1, "port", "ports"));
    return text;
}

void client_diagnose(struct client_result *r, const struct client_plan *plan, bool threads_are_auto)
{
    char text[REFUSING_BYTES];
    const struct diagnosis_input in = {
        .tally = &r->tally,
        .target = refusing(text, plan, r),
        .has_classes = plan->config.n_classes > 0,
        .protocol = plan->config.listens ? "listen" : plan->config.query.protocol->name,
        .over_tls = plan->config.tls != NULL,
        .over_udp = plan->config.socket.datagrams,
        .listens = plan->config.listens,
        .not_begun =
            r->gave_up ? r->connections_requested - tally_get(&r->tally.connections.attempted) : 0,
        .losses = &r->losses,
        .none_is_left = r->connections_live == 0,
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

    if (in.deaf > 0 || diagnosis_silence_never_answered(&in) ||
        (in.churns ? tally_connections_failed(&r->tally) > 0
                   : r->connections_live < r->connections_wanted))
        diagnosis_make(&r->diagnosis, &in);
}
