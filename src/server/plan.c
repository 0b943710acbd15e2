/* SPDX-License-Identifier: MIT
 * server_plan: see server/plan.h. */
#include "server/plan.h"

#include "base/log.h"
#include "base/units.h"
#include "host/preflight_memory.h"
#include "host/preflight_threads.h"
#include "host/process_limits.h"
#include "net/control_socket.h"
#include "net/thread.h"
#include "server/header.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The kernel distributes connections over the listeners by a hash, with a deviation of about the
 * square root of their number.  This share of each fd table stays free, so that helpers have to
 * accept few connections. */
#define SPREAD_PERCENT 5u

/* In a table shared by all threads: requests at the control port, files of results. */
#define KEPT_FDS 16u

/* Least number of entries in the table of sources. */
#define LEAST_SOURCES 1024u

/* Every fd table contains all listeners, within PROCESS_LIMITS_RESERVED_FDS. */
#define LISTENERS_RESERVED 48u

static uint32_t threads_for(const struct server_plan *plan, const struct server_opts *o)
{
    const uint32_t n_cpus = plan->config.cpus.n > 0 ? plan->config.cpus.n : process_limits_cpus();
    const uint64_t n = o->max_connections + o->max_connections * SPREAD_PERCENT / 100;
    const uint32_t needed =
        plan->config.own_fd_tables ? process_limits_workers_for(n, plan->host.nofile, 1) : 1;

    return needed > n_cpus ? needed : n_cpus;
}

/* One per worker; but if there are more workers than CPUs, some only accept for others. */
static uint32_t listeners_for(const struct server_plan *plan)
{
    const uint32_t n_cpus = process_limits_cpus();
    const uint32_t most = n_cpus > LISTENERS_RESERVED ? n_cpus : LISTENERS_RESERVED;

    return plan->config.own_fd_tables && plan->n_workers > most ? most : plan->n_workers;
}

static uint64_t reserved_fds(const struct server_plan *plan)
{
    const uint64_t n = process_limits_reserved_fds(plan->config.own_fd_tables, plan->n_workers);

    return plan->config.own_fd_tables && plan->n_listeners > LISTENERS_RESERVED
               ? n + plan->n_listeners - LISTENERS_RESERVED
               : n;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The main thread's fd table has a descriptor per worker; one eighth is for the control port. */
static uint32_t most_threads(struct server_plan *plan)
{
    const uint64_t nofile = plan->host.nofile, used = nofile / 8 + PROCESS_LIMITS_RESERVED_FDS;
    const uint64_t n = least_of(nofile > used ? nofile - used : 0, SERVER_OPTS_MOST_THREADS);
    const uint32_t most = (uint32_t)least_of(n, preflight_threads_left(&plan->host));

    if (most < n)
        plan->config.thread_limit = preflight_threads_limit(&plan->host);
    return most > plan->n_workers ? most : plan->n_workers;
}

static void plan_threads(struct server_plan *plan, const struct server_opts *o)
{
    plan->n_workers = o->threads != 0 ? (uint32_t)o->threads : threads_for(plan, o);
    plan->most_workers =
        plan->config.own_fd_tables && o->threads == 0 ? most_threads(plan) : plan->n_workers;
    plan->n_listeners = listeners_for(plan);
}

static void limit_room(struct server_plan *plan, uint64_t n)
{
    if (n < plan->room)
        plan->room = n;
}

static void fit_files(struct server_plan *plan)
{
    const struct host_limits *host = &plan->host;
    const uint64_t n_open = host->files_open != HOST_LIMITS_UNKNOWN ? host->files_open : 0;
    const uint64_t reserved = reserved_fds(plan);

    plan->room = (host->nofile > reserved ? host->nofile - reserved : 0) *
                 (plan->config.own_fd_tables ? plan->most_workers : 1);
    if (host->file_max != HOST_LIMITS_UNKNOWN && !host->is_exempt_from_file_max)
        limit_room(plan, host->file_max > n_open ? host->file_max - n_open : 0);
    limit_room(plan, host->epoll_watches);
}

/* Another thread begins when the tables of all others are full. */
static uint32_t threads_of(const struct server_plan *plan, uint64_t n_connections)
{
    return plan->most_workers > plan->n_workers
               ? process_limits_workers_for(n_connections, plan->host.nofile, plan->n_workers)
               : plan->n_workers;
}

static bool fits_memory(const struct server_plan *plan, const struct server_opts *o,
                        const struct host_limits *host, uint64_t n_connections)
{
    const struct memory_ends ends = {.server_connections = n_connections,
                                     .server_threads = threads_of(plan, n_connections),
                                     .tls = plan->config.tls != NULL,
                                     .counts_sources = o->max_per_source > 0,
                                     .closes_idle = o->idle_timeout_ns > 0};

    return preflight_memory_suffices(host, &ends, MEMORY_WATCH_OF_SERVER);
}

/* Returns how many of n connections fit into the memory of a host, by bisection. */
static uint64_t fit_memory(const struct server_plan *plan, const struct server_opts *o,
                           const struct host_limits *host, uint64_t n)
{
    uint64_t least = 0;

    while (least < n) {
        const uint64_t middle = n - (n - least) / 2;

        if (fits_memory(plan, o, host, middle))
            least = middle;
        else
            n = middle - 1;
    }
    return least;
}

static int plan_tls(struct server_plan *plan, const struct server_opts *o)
{
    const struct tls_server_options options = {
        .cert_file = o->tls_cert,
        .key_file = o->tls_key != NULL ? o->tls_key : o->tls_cert,
        .min = o->tls_min,
    };
    char error[TLS_ERROR_BYTES];

    if (o->tls_cert == NULL)
        return 0;
    plan->config.tls = tls_server_context(&options, error);
    return plan->config.tls != NULL ? 0 : log_error("%s", error);
}

static int plan_user(struct server_plan *plan, const struct server_opts *o)
{
    char error[PRIVILEGES_ERROR_BYTES];

    if (o->user == NULL)
        return 0;
    if (privileges_find(&plan->user, o->user, error) != 0)
        return log_error("--user: %s", error);
    host_limits_of_user(&plan->host, plan->user.uid);
    return 0;
}

/* Here, so that a run refuses an address before it opens outputs. */
static int check_control(const struct server_opts *o)
{
    char error[CONTROL_SOCKET_ERROR_BYTES];
    struct sock_address a;

    if (o->control != NULL &&
        control_socket_check(&a, o->control, o->control_token != NULL, error) != 0)
        return log_error("--control: %s", error);
    return 0;
}

/* A shorter idle timeout applies to the header, too. */
static uint64_t header_timeout_ns(const struct server_opts *o)
{
    return o->idle_timeout_ns > 0 && o->idle_timeout_ns < SERVER_HEADER_TIMEOUT_NS
               ? o->idle_timeout_ns
               : SERVER_HEADER_TIMEOUT_NS;
}

static void plan_service(struct server_config *c, const struct server_opts *o)
{
    c->own_fd_tables = thread_can_own_fd_table();
    c->n_kept_fds = c->own_fd_tables ? 0 : KEPT_FDS;
    c->threads_are_fixed = c->own_fd_tables && o->threads != 0;
    c->protocol = (enum server_protocol)o->protocol;
    c->push_rate_per_s = o->push_rate_per_s;
    c->push_bytes = (uint32_t)o->push_bytes;
    c->push_select = o->push_select;
    c->max_connections = o->max_connections;
    c->idle_timeout_ns = o->idle_timeout_ns;
    c->header_timeout_ns = o->proxy ? header_timeout_ns(o) : 0;
    c->quiet = o->quiet;
    c->busy_poll = o->busy_poll;
}

static void check_limits(struct server_plan *plan, const struct server_opts *o)
{
    const struct preflight_server ask = {
        .n_connections = o->max_connections,
        .n_threads = plan->n_workers,
        .own_fd_tables = plan->config.own_fd_tables,
        .reserved_fds = reserved_fds(plan),
        .backlog = o->backlog,
        .tls = plan->config.tls != NULL,
        .counts_sources = o->max_per_source > 0,
        .closes_idle = o->idle_timeout_ns > 0,
    };

    preflight_server(&plan->preflight, &plan->host, &ask);
}

int server_plan_make(struct server_plan *plan, const struct server_opts *opts)
{
    char error[CPULIST_ERROR_BYTES];

    if (process_limits_parse_cpus(opts->cpu, &plan->config.cpus, error) != 0)
        return log_error("--cpu: %s", error);
    if (check_control(opts) != 0)
        return -1;
    if (process_limits_raise_nofile() <= PROCESS_LIMITS_RESERVED_FDS)
        return log_error(
            "the fd limit is too low to accept any connection: raise it with 'ulimit -n 1024'");
    process_limits_share_malloc();
    host_limits_read(&plan->host);
    plan_service(&plan->config, opts);
    if (plan_user(plan, opts) != 0 || plan_tls(plan, opts) != 0)
        return -1;
    plan_threads(plan, opts);
    fit_files(plan);
    plan->room = fit_memory(plan, opts, &plan->host, plan->room);
    check_limits(plan, opts);
    return 0;
}

/* Returns how many of n connections fit into the address space, even if other programs free all of
 * the machine's memory. */
static uint64_t fit_address_space(const struct server_plan *plan, const struct server_opts *opts,
                                  uint64_t n)
{
    struct host_limits host = plan->host;

    host.memory_available_bytes = host.cgroup_available_bytes = HOST_LIMITS_UNKNOWN;
    return fit_memory(plan, opts, &host, n);
}

/* At most as many as there are descriptors, as fit into all of the machine's memory and into the
 * address space, and as --max-connections allows, plus one being accepted per thread. */
static uint64_t most_connections(const struct server_plan *plan, const struct server_opts *opts)
{
    const struct memory_ends one = {.server_connections = 1};
    const uint64_t n_tables = plan->config.own_fd_tables ? plan->most_workers : 1;
    const uint64_t memory_bytes =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t most =
        opts->max_connections > 0 ? opts->max_connections : SERVER_OPTS_MOST_CONNECTIONS;
    const uint64_t n =
        least_of(most + plan->n_workers,
                 least_of(plan->host.nofile * n_tables,
                          memory_bytes / memory_model_connection_bytes(&one, MEMORY_OF_MACHINE)));

    /* a server for which the model finds no room still serves a few */
    return opts->max_connections > 0
               ? n
               : larger_of(fit_address_space(plan, opts, n), least_of(n, LEAST_SOURCES));
}

int server_plan_limit_sources(struct server_plan *plan, const struct server_opts *opts)
{
    char text[UNITS_TEXT_BYTES];
    uint64_t secret, n;

    if (opts->max_per_source == 0)
        return 0;
    if (getentropy(&secret, sizeof secret) != 0)
        return log_error("--max-connections-per-source: cannot get random bytes: %s",
                         strerror(errno));
    n = most_connections(plan, opts);
    plan->config.source_limit = source_limit_new(opts->max_per_source, (uint32_t)n, secret);
    if (plan->config.source_limit == NULL)
        return log_error("--max-connections-per-source: out of memory for the sources of %s "
                         "connections: use a smaller --max-connections, or raise ulimit -v or -d",
                         units_format_count(text, n));
    return 0;
}

void server_plan_free(struct server_plan *plan)
{
    source_limit_free(plan->config.source_limit);
    tls_context_free(plan->config.tls);
}
