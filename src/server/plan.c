/* SPDX-License-Identifier: MIT
 * server_plan: see server/plan.h. */
#include "server/plan.h"

#include "base/log.h"
#include "host/process_limits.h"
#include "net/thread.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The kernel spreads connections over the listeners by a hash, unevenly by about the square root of
 * their number; so much of each fd table is left as room for that. */
#define SPREAD_PERCENT 5u

/* Room for so many is asked for: those of the option, and some more because the kernel spreads
 * them. */
static uint64_t room_wanted(const struct server_opts *o)
{
    return o->max_connections + o->max_connections * SPREAD_PERCENT / 100;
}

static void plan_threads(struct server_plan *plan, const struct server_opts *o)
{
    const struct server_config *c = &plan->config;
    const uint64_t per_table = plan->host.nofile - PROCESS_LIMITS_RESERVED_FDS;
    const uint32_t needed = c->own_fd_tables && o->max_connections > 0
                                ? process_limits_workers_for(room_wanted(o), plan->host.nofile, 1)
                                : 1;

    plan->n_workers = o->threads != 0 ? (uint32_t)o->threads
                      : c->cpus.n > 0 ? c->cpus.n
                                      : process_limits_cpus();
    if (o->threads == 0 && plan->n_workers < needed)
        plan->n_workers = needed;
    plan->room = c->own_fd_tables ? per_table * plan->n_workers : per_table;
}

/* No more than there is memory for. */
static void fit_memory(struct server_plan *plan)
{
    const struct memory_ends one = {.server_connections = 1, .tls = plan->config.tls != NULL};
    const struct host_limits *host = &plan->host;
    const struct {
        uint64_t left_bytes;
        enum memory_account account;
    } rooms[] = {
        {host->memory_available_bytes, MEMORY_OF_MACHINE},
        {host->cgroup_available_bytes,
         host->cgroup_is_v2 ? MEMORY_OF_CGROUP_V2 : MEMORY_OF_CGROUP_V1},
        {host->address_space_bytes, MEMORY_OF_PROCESS},
    };

    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        const uint64_t n =
            rooms[i].left_bytes / memory_model_connection_bytes(&one, rooms[i].account);

        if (rooms[i].left_bytes != HOST_LIMITS_UNKNOWN && n < plan->room)
            plan->room = n;
    }
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

    if (o->user != NULL && privileges_find(&plan->user, o->user, error) != 0)
        return log_error("--user: %s", error);
    return 0;
}

static void plan_service(struct server_config *c, const struct server_opts *o)
{
    c->own_fd_tables = thread_can_own_fd_table();
    c->protocol = (enum server_protocol)o->protocol;
    c->push_rate_per_s = o->push_rate_per_s;
    c->push_bytes = (uint32_t)o->push_bytes;
    c->push_select = o->push_select;
    c->max_connections = o->max_connections;
    c->idle_timeout_ns = o->idle_timeout_ns;
    c->quiet = o->quiet;
    c->busy_poll = o->busy_poll;
}

static void check_limits(struct server_plan *plan, const struct server_opts *o)
{
    const struct preflight_server ask = {
        .n_connections = room_wanted(o),
        .n_served = o->max_connections,
        .n_threads = plan->n_workers,
        .own_fd_tables = plan->config.own_fd_tables,
        .reserved_fds = PROCESS_LIMITS_RESERVED_FDS,
        .backlog = o->backlog,
        .tls = plan->config.tls != NULL,
    };

    preflight_server(&plan->preflight, &plan->host, &ask);
}

int server_plan_make(struct server_plan *plan, const struct server_opts *opts)
{
    char error[CPULIST_ERROR_BYTES];

    if (process_limits_take_cpus(opts->cpu, &plan->config.cpus, error) != 0)
        return log_error("--cpu: %s", error);
    if (process_limits_raise_nofile() <= PROCESS_LIMITS_RESERVED_FDS)
        return log_error(
            "the fd limit is too low to serve anybody: raise it with 'ulimit -n 1024'");
    host_limits_read(&plan->host);
    plan_service(&plan->config, opts);
    if (plan_user(plan, opts) != 0 || plan_tls(plan, opts) != 0)
        return -1;
    plan_threads(plan, opts);
    fit_memory(plan);
    check_limits(plan, opts);
    return 0;
}

/* No more connections than descriptors, and no more of those that count than --max-connections and
 * one under way in each thread. */
int server_plan_limit_sources(struct server_plan *plan, const struct server_opts *opts)
{
    const uint64_t n_tables = plan->config.own_fd_tables ? plan->n_workers : 1;
    const uint64_t most =
        opts->max_connections > 0 ? opts->max_connections : SERVER_OPTS_MOST_CONNECTIONS;
    uint64_t n = plan->host.nofile * n_tables, secret;

    if (opts->max_per_source == 0)
        return 0;
    if (n > most + plan->n_workers)
        n = most + plan->n_workers;
    if (getentropy(&secret, sizeof secret) != 0)
        return log_error("--max-connections-per-source: no random number: %s", strerror(errno));
    plan->config.source_limit = source_limit_new(opts->max_per_source, (uint32_t)n, secret);
    return plan->config.source_limit != NULL ? 0 : log_error("no memory");
}

void server_plan_free(struct server_plan *plan)
{
    source_limit_free(plan->config.source_limit);
    tls_context_free(plan->config.tls);
}
