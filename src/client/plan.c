/* SPDX-License-Identifier: MIT
 * client_plan: see client/plan.h. */
#include "client/plan.h"

#include "base/log.h"
#include "base/textfile.h"
#include "client/schedule.h"
#include "client/worker/proxy.h"
#include "host/process_limits.h"
#include "net/thread.h"
#include "protocol/query_dns.h"
#include "protocol/query_init.h"
#include "workload/identity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_QUERY_FILE_BYTES (1ull << 32)

/* Up to this rate and number of connections one thread is faster than two: every further thread
 * takes CPU time from the kernel and from a server on this host.  On 2 virtual CPUs, 20,000 q/s
 * over 10,000 connections: response p50 48 us with one thread, 100 us with two. */
#define THREAD_QPS         25000.0
#define THREAD_CONNECTIONS 10000u

/* Up to this rate kernel timestamps are on by default: each costs 0.2 us, and above it one receive
 * call often returns many answers. */
#define STAMPED_QPS 100000.0

/* Fraction of a CPU for busy-waiting if every CPU has a worker. */
#define WAITING_SHARE           0.05
#define WAITING_SHARE_PEER_HERE 0.02

/* Reads the lines of --query-file; the caller frees the text. */
static int read_queries(const char *file, struct query_text *lines, char **text)
{
    const bool is_stdin = strcmp(file, "-") == 0;

    lines->file = is_stdin ? "stdin" : file;
    lines->text = *text =
        textfile_read(is_stdin ? NULL : file, MOST_QUERY_FILE_BYTES, &lines->n_bytes);
    if (*text == NULL)
        return log_error("--query-file: cannot read '%s': %s", file, strerror(errno));
    return 0;
}

static int plan_query(struct client_plan *plan, const struct client_opts *o)
{
    struct query_ask ask = {
        .qname = o->qname,
        .qtype = o->qtype,
        .edns = {.udp_bytes = (uint16_t)o->edns_bytes,
                 .padding_bytes = (uint16_t)o->padding_bytes,
                 .dnssec = o->dnssec,
                 .keepalive = o->keepalive},
        .size_bytes = o->size_bytes,
    };
    char error[QUERY_ERROR_BYTES], *text = NULL;
    int failed;

    plan->config.listens = o->protocol == CLIENT_PROTOCOL_LISTEN;
    if (plan->config.listens)
        return 0;
    if (o->query_file != NULL && read_queries(o->query_file, &ask.lines, &text) != 0)
        return -1;
    failed = query_init(&plan->config.query, (enum query_kind)o->protocol, &ask, error);
    free(text);
    for (unsigned i = 0; o->sweep_axis == CLIENT_SWEEP_SIZE && !failed && i < o->n_sweep; i++) {
        ask.size_bytes = o->sweep_values[i];
        failed = query_init(&plan->sizes[i], QUERY_ECHO, &ask, error);
        plan->config.sizes = plan->sizes;
    }
    return failed ? log_error("%s", error) : 0;
}

static int resolve(struct client_plan *plan, const struct client_opts *o)
{
    const struct sock_greeting greeting = client_proxy_greeting(&plan->config);
    char error[SOCK_ERROR_BYTES];

    if (sock_resolve_server(&o->server, srcplan_family(&plan->config.plan), &greeting,
                            &plan->config.target, error) != 0)
        return log_error("HOST: %s", error);
    sock_format(plan->target, &plan->config.target);
    if (!sock_has_local_address(&plan->config.target))
        return log_error("HOST: cannot reach '%s': this host has no suitable %s address",
                         plan->target,
                         plan->config.target.ss.ss_family == AF_INET6 ? "IPv6" : "IPv4");
    return 0;
}

static int plan_cpus(struct client_plan *plan, const struct client_opts *o)
{
    char error[CPULIST_ERROR_BYTES];

    if (process_limits_take_cpus(o->cpu, &plan->config.cpus, error) != 0)
        return log_error("--cpu: %s", error);
    return 0;
}

static int plan_tls(struct client_plan *plan, const struct client_opts *o)
{
    const struct tls_client_options options = {
        .name = o->tls_name != NULL ? o->tls_name : o->server.host,
        .ca_file = o->tls_ca,
        .ciphers = o->tls_ciphers,
        .alpn = plan->config.query.protocol == &query_dns_protocol ? "dot" : NULL,
        .min = o->tls_min,
        .insecure = o->tls_insecure,
        .resume = o->tls_resume == 0,
    };
    char error[TLS_ERROR_BYTES];

    if (!o->tls)
        return 0;
    plan->config.tls = tls_client_context(&options, error);
    return plan->config.tls != NULL ? 0 : log_error("%s", error);
}

/* The highest rate that can be requested. */
static double peak_qps(const struct client_config *config, const struct client_opts *o)
{
    return o->find == CLIENT_FIND_CONNECTIONS ? o->rate_qps
           : o->find != CLIENT_FIND_NONE      ? o->find_max
                                              : schedule_peak_qps(&config->schedule);
}

/* As many threads as the load needs, at most one per CPU.  Handshakes and reconnects cost as much
 * as queries; the load of a closed loop or of later requests is unknown. */
static uint32_t busy_threads(const struct client_config *config, const struct client_opts *o)
{
    const uint32_t n_cpus = config->cpus.n > 0 ? config->cpus.n : process_limits_cpus();
    const double by_rate = peak_qps(config, o) / THREAD_QPS;
    const uint32_t by_connections = (config->n_connections - 1) / THREAD_CONNECTIONS + 1;
    uint32_t n = by_rate < n_cpus ? (uint32_t)by_rate + 1 : n_cpus;

    if (config->cpus.n > 0 || o->control != NULL || config->tls != NULL || config->listens ||
        o->queries_per_conn > 0 || o->on_demand || config->conn_per_query ||
        o->loop == CLIENT_LOOP_CLOSED)
        return n_cpus;
    if (n < by_connections)
        n = by_connections;
    return n < n_cpus ? n : n_cpus;
}

static void plan_threads(struct client_config *config, const struct client_opts *o,
                         const struct host_limits *host)
{
    const uint32_t n_threads = busy_threads(config, o);

    config->own_fd_tables = thread_can_own_fd_table();
    config->n_workers =
        o->threads != 0
            ? (uint32_t)o->threads
            : process_limits_workers_for(
                  config->n_connections, config->own_fd_tables ? host->nofile : UINT64_MAX,
                  config->n_at_begin < n_threads ? config->n_at_begin : n_threads);
}

/* Busy-waiting occupies a CPU: it is unlimited only if another CPU is left, or on request. */
static void plan_pace(struct client_config *c, const struct client_opts *o)
{
    const bool cpu_is_left = process_limits_cpus() > c->n_workers;

    c->pace = o->busy_poll                  ? CLIENT_PACE_SPIN
              : o->pace == CLIENT_PACE_AUTO ? CLIENT_PACE_HYBRID
                                            : o->pace;
    if (c->pace == CLIENT_PACE_SLEEP)
        c->waiting_share = 0;
    else if (o->pace != CLIENT_PACE_AUTO || cpu_is_left)
        c->waiting_share = 1;
    else
        c->waiting_share = sock_is_loopback(&c->target) ? WAITING_SHARE_PEER_HERE : WAITING_SHARE;
}

static void plan_load(struct client_config *c, const struct client_opts *o)
{
    c->connect_rate_per_s = o->connect_rate;
    c->conn_per_query = o->find == CLIENT_FIND_CONNECT_RATE;
    c->connect_arrival = c->conn_per_query ? CLIENT_CONNECT_WINDOW : o->connect_arrival;
    c->closes_newest = o->find != CLIENT_FIND_NONE;
    c->connect_window = (uint32_t)o->connect_window;
    c->connect_timeout_ns = o->connect_timeout_ns;
    c->socket.sndbuf_bytes = (int)o->sndbuf_bytes;
    c->socket.rcvbuf_bytes = (int)o->rcvbuf_bytes;
    c->socket.busy_poll = o->busy_poll;
    c->prove = o->prove == 0 && !c->conn_per_query;
    c->close = o->close;
    c->queries_per_conn = (uint32_t)o->queries_per_conn;
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
    const bool is_slow = peak_qps(&plan->config, o) < STAMPED_QPS && plan->rate_qps < STAMPED_QPS;

    plan->config.socket.stamp_received =
        o->kernel_ts == CLIENT_KERNEL_TS_YES || (o->kernel_ts == CLIENT_KERNEL_TS_AUTO && is_slow);
}

/* The maximum number of connections and their schedule. */
static int plan_population(struct client_plan *plan, const struct client_opts *o)
{
    struct client_config *c = &plan->config;

    c->n_connections = (uint32_t)o->connections;
    if (o->conn_schedule == NULL)
        return 0;
    if (client_schedule_read_connections(&c->population, o) != 0)
        return -1;
    c->n_connections = (uint32_t)(schedule_peak_qps(&c->population) + 0.5);
    if (o->threads > c->n_connections)
        return log_error("--threads: invalid value '%" PRIu64
                         "': expected at most one per connection (%" PRIu32 ")",
                         o->threads, c->n_connections);
    return 0;
}

/* With --interval each scheduled connection adds its own queries. */
static int read_schedule(struct client_config *c, const struct client_opts *o)
{
    if (client_opts_has_schedule(o))
        return client_schedule_read(&c->schedule, o);
    c->schedule = c->population;
    schedule_scale(&c->schedule, 1e9 / (double)o->interval_ns);
    return 0;
}

static int plan_changing_rate(struct client_plan *plan, const struct client_opts *o)
{
    struct client_config *c = &plan->config;

    if (read_schedule(c, o) != 0)
        return -1;
    c->duration_ns = schedule_duration_ns(&c->schedule);
    schedule_prepend_warmup(&c->schedule, o->warmup_ns);
    plan->rate_qps = schedule_mean_qps(&c->schedule, o->warmup_ns);
    return 0;
}

static int plan_schedule(struct client_plan *plan, const struct client_opts *o)
{
    struct client_config *c = &plan->config;
    const bool has_population = c->population.n > 0;

    c->warmup_ns = o->warmup_ns;
    if (client_opts_has_schedule(o) || (has_population && o->interval_ns > 0)) {
        if (plan_changing_rate(plan, o) != 0)
            return -1;
    } else {
        c->duration_ns = has_population       ? schedule_duration_ns(&c->population)
                         : o->duration_ns > 0 ? o->duration_ns
                                              : PACER_NEVER;
        plan->rate_qps = o->find != CLIENT_FIND_NONE ? 0 : client_opts_rate_qps(o);
        schedule_constant(&c->schedule, client_config_load_ns(c), plan->rate_qps);
    }
    if (o->loop == CLIENT_LOOP_CLOSED)
        schedule_constant(&c->schedule, client_config_load_ns(c), 0);
    return 0;
}

static uint16_t lowest_port(const struct srcplan *tuples)
{
    uint16_t lowest = UINT16_MAX;

    for (uint32_t i = 0; tuples->ports != NULL && i < tuples->n_ports; i++)
        if (tuples->ports[i] < lowest)
            lowest = tuples->ports[i];
    return lowest;
}

static void check_limits(struct client_plan *plan, const struct client_opts *o,
                         const struct host_limits *host)
{
    const double peak = peak_qps(&plan->config, o);
    const struct client_config *c = &plan->config;
    const struct preflight_client ask = {
        .n_connections = c->n_connections,
        .n_tuples = plan->sources.n_tuples,
        .n_time_wait = plan->sources.n_time_wait,
        .time_wait_ends_s = plan->sources.time_wait_ends_s,
        .n_addresses = c->plan.n_addresses > 0 ? c->plan.n_addresses : 1,
        .explicit_ports = c->plan.ports != NULL,
        .lowest_port = lowest_port(&c->plan),
        .n_threads = c->n_workers,
        .own_fd_tables = c->own_fd_tables,
        .reserved_fds = PROCESS_LIMITS_RESERVED_FDS,
        .peer_is_here = sock_is_loopback(&c->target),
        .closes_with_fin = c->close == CLIENT_CLOSE_FIN,
        .churn_per_s = c->conn_per_query         ? peak
                       : c->queries_per_conn > 0 ? plan->rate_qps / c->queries_per_conn
                                                 : 0,
        .connect_window = c->connect_window,
        .tls = c->tls != NULL,
    };

    plan->config.memory_ends = preflight_client_ends(&ask);
    preflight_client(&plan->preflight, host, &ask);
    plan->churn_most_per_s =
        ask.closes_with_fin ? preflight_churn_per_s(host, &ask) : HOST_LIMITS_UNKNOWN;
}

/* For n connections at a time. */
static void fit(struct client_plan *plan, const struct client_opts *o,
                const struct host_limits *host, uint64_t n)
{
    plan->config.n_connections = (uint32_t)n;
    plan_threads(&plan->config, o, host);
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
                           plan->config.population.n == 0 && !o->on_demand);

    fit(plan, o, host,
        !may_grow                               ? n
        : o->max_connections != 0               ? o->max_connections
        : 2 * n <= CLIENT_OPTS_MOST_CONNECTIONS ? 2 * n
                                                : n);
    if (o->max_connections == 0 && (preflight_worst(&plan->preflight) == PREFLIGHT_STOP ||
                                    plan->config.n_workers > n || !has_identities(&plan->config)))
        fit(plan, o, host, n);
    if (may_grow && plan->config.n_workers > n)
        return log_error("--max-connections: requires %" PRIu32
                         " threads: expected at least as many --connections",
                         plan->config.n_workers);
    if (!has_identities(&plan->config))
        return log_error(
            "--proxy-source: invalid value '%s': expected an identity for each of %" PRIu32
            " connections; each address has %u",
            o->proxy_source, plan->config.n_connections, IDENTITY_PORTS);
    return 0;
}

int client_plan_make(struct client_plan *plan, const struct client_opts *opts)
{
    struct host_limits host;

    memset(plan, 0, sizeof *plan);
    process_limits_raise_nofile();
    host_limits_read(&host);
    if (plan_query(plan, opts) != 0 ||
        client_sources_read(&plan->sources, &plan->config, opts, &host) != 0 ||
        plan_cpus(plan, opts) != 0 || plan_population(plan, opts) != 0 ||
        plan_schedule(plan, opts) != 0 || resolve(plan, opts) != 0 ||
        client_sources_fit_target(&plan->sources, &plan->config, plan->target, &host) != 0 ||
        plan_tls(plan, opts) != 0)
        return -1;
    plan_load(&plan->config, opts);
    plan_stamps(plan, opts);
    if (plan_room(plan, opts, &host) != 0)
        return -1;
    if (plan->config.conn_per_query) /* one for each query */
        plan->config.n_at_begin = 0;
    if (plan->config.connect_arrival != CLIENT_CONNECT_WINDOW && !opts->window_caps)
        plan->config.connect_window = plan->config.n_connections;
    plan_pace(&plan->config, opts);
    return 0;
}

void client_plan_free(struct client_plan *plan)
{
    client_sources_free(&plan->config);
    query_free(&plan->config.query);
    for (unsigned i = 0; i < CLIENT_SWEEP_MOST; i++)
        query_free(&plan->sizes[i]);
    tls_context_free(plan->config.tls);
}
