/* SPDX-License-Identifier: MIT
 * program: tcpclient as a whole in the simulated world, from its command line to its reports; only
 * the network is simulated.  For runs larger than any host allows. */
#include "base/log.h"
#include "client/session.h"
#include "drive.h"
#include "memory.h"
#include "net/worker.h"
#include "tls_setup.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What the world and the laws need to know about the options. */
static struct scenario scenario_of(const struct scenario *of_world,
                                   const struct client_session *session)
{
    const struct client_opts *o = &session->opts;
    const struct client_config *c = &session->plan.config;
    struct scenario s = *of_world;

    s.seed = o->seed;
    s.connections = c->n_connections;
    s.workers = c->n_workers;
    s.rate_qps = (uint64_t)session->plan.rate_qps;
    s.duration_us = o->duration_ns / 1000;
    if (o->find != CLIENT_FIND_NONE)
        s.duration_us = o->find_time_ns / 1000;
    if (o->find == CLIENT_FIND_RATE || o->find == CLIENT_FIND_CONNECT_RATE)
        s.rate_qps = (uint64_t)o->find_max;
    else if (o->find == CLIENT_FIND_CONNECTIONS)
        s.rate_qps = (uint64_t)o->rate_qps;
    s.conn_per_query = c->conn_per_query;
    s.warmup_us = c->warmup_ns / 1000;
    s.drain_us = c->drain_ns / 1000;
    s.closed_loop = c->loop == CLIENT_LOOP_CLOSED;
    s.interval_us = c->interval_ns / 1000;
    s.connect_timeout_us = c->connect_timeout_ns / 1000;
    s.pace = (uint64_t)c->pace;
    s.stamps = c->socket.stamp_received;
    s.own_tables = c->own_fd_tables;
    s.tls = c->tls != NULL;
    return s;
}

static void print_figures(const struct drive_result *r, double plan_s, double run_s)
{
    const double *phases_s = r->phases_s;
    double report_s = run_s;

    for (int phase = 0; phase < DRIVE_N_PHASES; phase++)
        report_s -= phases_s[phase];
    printf("%" PRIu64 " connections, %" PRIu64 " failed, %" PRIu64 " queries, %.1f s simulated\n",
           r->n_connections, r->n_failed, r->n_queries, (double)r->simulated_ns / 1e9);
    printf("real time: plan %.3f s, start %.3f s, ramp %.3f s, load %.3f s, merge %.3f s, "
           "report %.3f s\n",
           plan_s, phases_s[DRIVE_PREPARE], phases_s[DRIVE_CONNECT], phases_s[DRIVE_LOAD],
           phases_s[DRIVE_MERGE], report_s);
    printf("memory of the program: %.1f bytes per connection\n",
           (double)r->most_bytes / (double)r->n_connections);
}

int drive_program(const struct scenario *of_world, int argc, char **argv)
{
    static struct client_session session = CLIENT_SESSION_INIT;
    struct drive_result result = {.started = true};
    char error[OPTIONS_ERROR_BYTES];
    const double begin_s = now_s();
    struct scenario s;
    double run_s;
    int code;

    world.prints_messages = true;
    memory_prepare();
    tls_setup_prepare();
    session.command = argv;
    client_opts_table()->version = worker_version();
    if (client_opts_parse(&session.opts, argc, argv, stdout, error) != OPTIONS_RUN)
        return log_error("%s", error);
    if (client_plan_make(&session.plan, &session.opts) != 0)
        return CLIENT_EXIT_USAGE;
    run_s = now_s();
    s = scenario_of(of_world, &session);
    drive_begin(&s);
    drive_expect(&session.plan.config, &result);
    code = client_session_run(&session);
    drive_end(&result);
    print_figures(&result, run_s - begin_s, now_s() - run_s);
    client_session_free(&session);
    return code;
}
