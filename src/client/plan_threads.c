/* SPDX-License-Identifier: MIT
 * client_plan_threads: see client/plan_threads.h. */
#include "client/plan_threads.h"

#include "client/plan_schedule.h"
#include "host/process_limits.h"

/* Up to this rate and number of connections one thread is faster than two: every further thread
 * takes CPU time from the kernel and from a server on this host.  On 2 virtual CPUs, 20,000 q/s
 * over 10,000 connections: response p50 48 us with one thread, 100 us with two. */
#define THREAD_QPS         25000.0
#define THREAD_CONNECTIONS 10000u

/* Fraction of the CPUs for busy-waiting if every CPU has a worker. */
#define WAITING_SHARE           0.05
#define WAITING_SHARE_PEER_HERE 0.02

/* Handshakes and reconnects cost as much as queries; the load of a closed loop or of later requests
 * is unknown. */
static bool has_known_load(const struct client_config *config, const struct client_opts *o)
{
    return o->control == NULL && config->tls == NULL && !config->listens &&
           config->queries_per_conn == 0 && !o->on_demand && !config->conn_per_query &&
           o->loop != CLIENT_LOOP_CLOSED;
}

/* As many threads as the load needs, at most one per CPU. */
static uint32_t busy_threads(const struct client_config *config, const struct client_opts *o,
                             uint32_t n_cpus)
{
    const double by_rate = client_plan_peak_qps(config, o) / THREAD_QPS;
    const uint32_t by_connections = (config->n_connections - 1) / THREAD_CONNECTIONS + 1;
    uint32_t n = by_rate < n_cpus ? (uint32_t)by_rate + 1 : n_cpus;

    if (config->cpus.n > 0)
        return config->cpus.n;
    if (!has_known_load(config, o))
        return n_cpus;
    if (n < by_connections)
        n = by_connections;
    return n < n_cpus ? n : n_cpus;
}

void client_plan_threads(struct client_config *config, const struct client_opts *o, uint32_t n_cpus,
                         uint64_t nofile)
{
    const uint32_t n_busy = busy_threads(config, o, n_cpus);

    config->n_workers =
        o->threads != 0
            ? (uint32_t)o->threads
            : process_limits_workers_for(config->n_connections,
                                         config->own_fd_tables ? nofile : UINT64_MAX,
                                         config->n_at_begin < n_busy ? config->n_at_begin : n_busy);
}

/* Busy-waiting occupies a CPU: it is unlimited only if another CPU is left, or on request. */
void client_plan_pace(struct client_config *config, const struct client_opts *o, uint32_t n_cpus)
{
    const bool cpu_is_left = n_cpus > config->n_workers;

    config->pace = o->busy_poll                  ? CLIENT_PACE_SPIN
                   : o->pace == CLIENT_PACE_AUTO ? CLIENT_PACE_HYBRID
                                                 : o->pace;
    if (config->pace == CLIENT_PACE_SLEEP)
        config->waiting_share = 0;
    else if (o->pace != CLIENT_PACE_AUTO || cpu_is_left)
        config->waiting_share = 1;
    else
        config->waiting_share = (config->target_is_here ? WAITING_SHARE_PEER_HERE : WAITING_SHARE) *
                                n_cpus / config->n_workers;
}
