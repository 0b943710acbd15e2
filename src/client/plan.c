/* SPDX-License-Identifier: MIT
 * client_plan: see client/plan.h. */
#include "client/plan.h"

#include "base/large_blocks.h"
#include "base/log.h"
#include "client/opts_classes.h"
#include "client/opts_find.h"
#include "client/plan_query.h"
#include "client/plan_schedule.h"
#include "client/plan_target.h"
#include "client/plan_threads.h"
#include "client/servers.h"
#include "client/worker/demand.h"
#include "client/worker/query.h"
#include "client/worker/record.h"
#include "client/worker/reopen.h"
#include "client/worker/slots.h"
#include "host/preflight_tuples.h"
#include "host/process_limits.h"
#include "measure/rows.h"
#include "net/control_socket.h"
#include "net/thread.h"
#include "workload/identity.h"

#include <inttypes.h>

/* Up to this rate kernel timestamps are on by default: each costs 0.2 us, and above it one receive
 * call often returns many answers. */
#define STAMPED_QPS 100000.0

/* Rows that all workers together can be ahead of the writer: 64 MiB, about a second at 1 Mq/s. */
enum { ALL_RINGS_ROWS = 1 << 21, FEWEST_RING_ROWS = 1 << 14 };

enum { ROWS_OF_QUERY = 2 }; /* one when it is sent, one for its answer */

static int plan_cpus(struct client_plan *plan, const struct client_opts *o)
{
    char error[CPULIST_ERROR_BYTES];

    if (process_limits_parse_cpus(o->cpu, &plan->config.cpus, error) != 0)
        return log_error("--cpu: %s", error);
    return 0;
}

static void plan_load(struct client_config *c, const struct client_opts *o)
{
    c->connect_rate_per_s = o->connect_rate_per_s;
    c->conn_per_query = o->find == CLIENT_FIND_CONNECT_RATE;
    c->connect_arrival = c->conn_per_query ? CLIENT_CONNECT_WINDOW : o->connect_arrival;
    c->closes_newest = o->find != CLIENT_FIND_NONE;
    c->connect_window = (uint32_t)o->connect_window;
    c->connect_timeout_ns = o->connect_timeout_ns;
    c->socket.sndbuf_bytes = (int)o->sndbuf_bytes;
    c->socket.rcvbuf_bytes = (int)o->rcvbuf_bytes;
    c->prove = o->prove == CLIENT_YES && !c->conn_per_query;
    c->close = o->close;
    c->queries_per_conn = client_opts_queries_per_conn(o);
    c->reconnect = o->reconnect;
    c->on_demand = o->on_demand;
    c->idle_close_ns = o->idle_close_ns;
    c->keepalive = o->keepalive;
    c->backoff = o->waits;
    c->quickack = o->quickack;
    c->arrival = o->arrival;
    c->select = o->select;
    c->loop = o->loop;
    c->interval_ns = o->interval_ns;
    c->seed = o->seed;
    c->drain_ns = o->drain_ns;
    c->timeout_ns = o->timeout_ns;
    c->on_timeout = o->on_timeout;
    c->quiet = o->quiet;
    c->record_connections = o->connections_out != NULL || o->on_demand;
}

static void plan_stamps(struct client_plan *plan, const struct client_opts *o)
{
    const bool is_slow =
        client_plan_peak_qps(&plan->config, o) < STAMPED_QPS && plan->rate_qps < STAMPED_QPS;

    plan->config.socket.stamp_received =
        o->kernel_ts == CLIENT_KERNEL_TS_YES || (o->kernel_ts == CLIENT_KERNEL_TS_AUTO && is_slow);
}

static uint16_t lowest_port(const struct srcplan *tuples)
{
    uint16_t lowest = UINT16_MAX;

    for (uint32_t i = 0; tuples->ports != NULL && i < tuples->n_ports; i++)
        if (tuples->ports[i] < lowest)
            lowest = tuples->ports[i];
    return lowest;
}

uint32_t client_plan_ring_rows(uint32_t n_workers)
{
    uint32_t rows = ALL_RINGS_ROWS;

    while (rows > FEWEST_RING_ROWS && (uint64_t)rows * n_workers > ALL_RINGS_ROWS)
        rows /= 2;
    return rows;
}

static uint64_t rows_bytes(uint32_t n_workers)
{
    return (uint64_t)n_workers * client_plan_ring_rows(n_workers) * sizeof(struct rows_record);
}

/* A ring is written round and round, so each of its pages becomes resident if there are as many
 * rows, however few of them are in it at a time.  In a closed loop their number is unknown. */
static uint64_t touched_rows_bytes(const struct client_config *c, const struct client_opts *o)
{
    const double mean_qps = schedule_mean_qps(&c->schedule, 0);
    const double n_rows = ROWS_OF_QUERY * mean_qps * (double)schedule_duration_ns(&c->schedule) /
                          1e9 / (double)o->sample_one_in;
    const bool is_known = mean_qps > 0 && o->control == NULL && o->find == CLIENT_FIND_NONE;
    const uint64_t all_bytes = rows_bytes(c->n_workers);

    return is_known && n_rows * sizeof(struct rows_record) < (double)all_bytes
               ? (uint64_t)n_rows * sizeof(struct rows_record)
               : all_bytes;
}

/* What a worker keeps for each connection in addition to the connection itself. */
static uint64_t kept_bytes(const struct client_config *c, const struct client_opts *o)
{
    const bool reuses_slots = c->queries_per_conn > 0 || client_config_keeps_opening(c) ||
                              o->control != NULL || o->find != CLIENT_FIND_NONE;

    return (c->record_connections ? sizeof(struct client_record) : 0) + client_demand_bytes(c) +
           (reuses_slots ? sizeof(struct client_slot) + sizeof(struct client_reopen_link) : 0);
}

static void check_limits(struct client_plan *plan, const struct client_opts *o,
                         const struct host_limits *host)
{
    const struct client_config *c = &plan->config;
    const struct preflight_client ask = {
        .n_connections = c->n_connections,
        .n_elsewhere = plan->sources.n_elsewhere,
        .n_tuples = plan->sources.n_tuples,
        .n_in_use = plan->sources.n_in_use,
        .n_time_wait = plan->sources.n_time_wait,
        .time_wait_ends_s = plan->sources.time_wait_ends_s,
        .n_addresses = c->plan.n_addresses > 0 ? c->plan.n_addresses : 1,
        .n_usable_addresses = plan->sources.n_usable_addresses,
        .unusable_address = plan->sources.unusable_address,
        .unusable_is_loopback = plan->sources.unusable == SOCK_SOURCE_LOOPBACK,
        .unusable_is_not_unicast = plan->sources.unusable == SOCK_SOURCE_NOT_UNICAST,
        .unusable_may_be_foreign = plan->sources.may_be_foreign,
        .lacks_route = plan->sources.route == SOCK_ROUTE_NONE,
        .n_routed_addresses = plan->sources.n_routed_addresses,
        .routeless_address = plan->sources.routeless_address,
        .route_is_denied = plan->sources.route == SOCK_ROUTE_DENIED,
        .loopback_is_down = plan->sources.loopback_is_down,
        .explicit_ports = c->plan.ports != NULL,
        .n_excluded_ports = plan->sources.n_excluded_ports,
        .lowest_port = lowest_port(&c->plan),
        .n_threads = c->n_workers,
        .n_helper_threads = (o->raw ? 1u : 0) + (o->watch != NULL ? 1u : 0),
        .n_classes = c->n_classes,
        .rows_bytes = o->raw ? rows_bytes(c->n_workers) : 0,
        .touched_rows_bytes = o->raw ? touched_rows_bytes(c, o) : 0,
        .kept_bytes = kept_bytes(c, o),
        .in_flight_bytes = client_query_in_flight_bytes(c),
        .own_fd_tables = c->own_fd_tables,
        .reserved_fds = process_limits_reserved_fds(c->own_fd_tables, c->n_workers),
        .peer_is_here = c->target_is_here,
        .ipv6 = c->target.ss.ss_family == AF_INET6,
        .closes_with_fin = c->close == CLIENT_CLOSE_FIN,
        .listens = c->listens,
        .udp = c->socket.datagrams,
        .churn_per_s = client_plan_churn_per_s(c, o, plan->rate_qps),
        .connect_window = c->connect_window,
        .window_is_fixed = c->conn_per_query,
        .tls = c->tls != NULL,
    };

    plan->config.memory_ends = preflight_client_ends(&ask);
    preflight_client(&plan->preflight, host, &ask);
    plan->churn_most_per_s =
        ask.closes_with_fin ? preflight_tuples_churn_per_s(host, &ask) : HOST_LIMITS_UNKNOWN;
}

/* Plans for n connections at a time. */
static void fit(struct client_plan *plan, const struct client_opts *o,
                const struct host_limits *host, uint64_t n)
{
    plan->config.n_connections = (uint32_t)n;
    client_plan_threads(&plan->config, o, process_limits_cpus(), host->nofile);
    check_limits(plan, o, host);
}

static bool has_identities(const struct client_config *c)
{
    return c->proxy == PROXY_HEADER_NONE || identity_capacity(&c->identities) >= c->n_connections;
}

/* With --control, and to search for connections, there is room for more connections; unused slots
 * cost nothing.  Each thread needs at least one connection, because it gets its share of the
 * queries. */
static int plan_room(struct client_plan *plan, const struct client_opts *o,
                     const struct host_limits *host)
{
    const uint64_t n = plan->config.n_at_begin = plan->config.n_connections;
    const bool may_grow = o->find == CLIENT_FIND_CONNECTIONS ||
                          o->sweep_axis == CLIENT_SWEEP_CONNECTIONS ||
                          (o->find == CLIENT_FIND_NONE && o->control != NULL &&
                           plan->config.population.n == 0 && !o->on_demand && o->n_classes == 0);

    fit(plan, o, host,
        !may_grow                               ? n
        : o->max_connections != 0               ? o->max_connections
        : 2 * n <= CLIENT_OPTS_MOST_CONNECTIONS ? 2 * n
                                                : n);
    if (o->max_connections == 0 && (preflight_worst(&plan->preflight) == PREFLIGHT_STOP ||
                                    plan->config.n_workers > n || !has_identities(&plan->config)))
        fit(plan, o, host, n);
    if (may_grow && plan->config.n_workers > n)
        return log_error("--%s: needs %" PRIu32 " threads, each with a connection from the start: "
                         "expected at least as many connections at the start",
                         o->find == CLIENT_FIND_NONE ? "max-connections"
                                                     : client_opts_limit_option(o),
                         plan->config.n_workers);
    if (!has_identities(&plan->config))
        return log_error(
            "--proxy-source: invalid value '%s': expected an identity for each of %" PRIu32
            " connections; each address provides %u",
            o->proxy_source, plan->config.n_connections, IDENTITY_PORTS);
    return 0;
}

/* Without connecting: the servers may start later. */
static int check_control(const struct client_opts *o)
{
    char error[CONTROL_SOCKET_ERROR_BYTES];
    struct client_servers servers = {.n = 0};
    struct sock_address a;

    if (o->control != NULL &&
        control_socket_check(&a, o->control, o->control_token != NULL, error) != 0)
        return log_error("--control: %s", error);
    if (o->server_control != NULL && client_servers_parse(&servers, o->server_control, error) != 0)
        return log_error("--server-control: %s", error);
    for (unsigned i = 0; i < servers.n; i++)
        if (control_socket_resolve(&a, servers.addresses[i], true, error) != 0)
            return log_error("--server-control: %s", error);
    return 0;
}

int client_plan_make(struct client_plan *plan, const struct client_opts *opts)
{
    struct host_limits host;

    *plan = (struct client_plan){.config.socket.datagrams = opts->transport == CLIENT_UDP};
    process_limits_raise_nofile();
    process_limits_share_malloc();
    large_blocks_map();
    host_limits_read(&host);
    if (check_control(opts) != 0 || client_plan_queries(&plan->config, plan->sizes, opts) != 0 ||
        client_sources_read(&plan->sources, &plan->config, opts, &host) != 0 ||
        plan_cpus(plan, opts) != 0 || client_plan_population(&plan->config, opts) != 0 ||
        client_plan_schedule(&plan->config, &plan->rate_qps, opts) != 0 ||
        client_plan_target(&plan->config, plan->target, opts) != 0 ||
        client_plan_classes_make(&plan->classes, &plan->config, opts) != 0 ||
        client_sources_fit_target(&plan->sources, &plan->config, plan->target, &host) != 0 ||
        client_plan_tls(&plan->config, opts) != 0)
        return -1;
    plan_load(&plan->config, opts);
    plan_stamps(plan, opts);
    plan->config.own_fd_tables = thread_can_own_fd_table();
    if (plan_room(plan, opts, &host) != 0)
        return -1;
    if (plan->config.conn_per_query) /* one for each query */
        plan->config.n_at_begin = 0;
    if (plan->config.connect_arrival != CLIENT_CONNECT_WINDOW && !opts->window_caps)
        plan->config.connect_window = plan->config.n_connections;
    client_plan_pace(&plan->config, opts, process_limits_cpus());
    return 0;
}

void client_plan_free(struct client_plan *plan)
{
    client_sources_free(&plan->config);
    client_plan_queries_free(&plan->config, plan->sizes);
    client_plan_classes_free(&plan->classes);
    tls_context_free(plan->config.tls);
}
