/* SPDX-License-Identifier: MIT
 * report_steps: a made-up result, and the reports of it, for the tests of the reports. */
#ifndef TCPSCALER_TESTS_UNIT_CLIENT_REPORT_STEPS_H
#define TCPSCALER_TESTS_UNIT_CLIENT_REPORT_STEPS_H

#include "client/opts.h"
#include "client/report.h"
#include "measure/verdict.h"
#include "print_steps.h"
#include "protocol/query_init.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US 1000ull
#define MS 1000000ull

struct made_up {
    struct client_opts opts;
    struct client_config config;
    struct client_result result;
    struct client_servers servers;
    struct report_about about;
};

static inline void record(struct hist *h, uint64_t first_ns, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        hist_record(h, first_ns + i);
}

/* Each metric has its own decade, so that a mix-up is noticed. */
static inline void make_result(struct client_result *r)
{
    struct tally_queries *q = &r->tally.queries[TALLY_MEASURED];

    memset(r, 0, sizeof *r);
    for (int m = 0; m < CLIENT_N_METRICS; m++)
        assert_int_equal(hist_init(&r->metrics[m]), 0);
    record(&r->metrics[CLIENT_RESPONSE], 700 * US, 980);
    record(&r->metrics[CLIENT_SERVICE], 60 * US, 980);
    hist_record_beyond(&r->metrics[CLIENT_RESPONSE], 23);
    hist_record_beyond(&r->metrics[CLIENT_SERVICE], 20);
    record(&r->metrics[CLIENT_SEND_LAG], 5 * US, 1000);
    record(&r->metrics[CLIENT_CONNECT], 4 * MS, 1000);
    tally_add(&q->scheduled, 1003);
    tally_add(&q->sent, 1000);
    tally_add(&q->unsent, 3);
    tally_add(&q->answered, 980);
    tally_add(&r->tally.answers.by_code[0], 3);
    tally_add(&r->tally.answers.by_code[1], 960);
    tally_add(&r->tally.answers.by_code[1 + 3], 11);
    tally_add(&r->tally.answers.by_code[1 + 15], 6);
    tally_add(&r->tally.answers.truncated, 2);
    tally_add(&q->timeout, 15);
    tally_add(&q->error, 5);
    tally_add(&r->tally.errors[PHASE_RECEIVE][REASON_PEER], 5);
    tally_add(&r->tally.connections.connected, 99);
    tally_add(&r->tally.connections.proven, 98);
    tally_add(&r->tally.connections.ended[PHASE_CONNECT][REASON_REFUSED], 1);
    tally_add(&r->tally.connections.ended[PHASE_RUN][REASON_FINISHED], 98);
    tally_add(&r->tally.connections.ended[PHASE_RECEIVE][REASON_HALF_OPEN], 1);
    r->connections_requested = 100;
    r->connections_at_begin = 100;
    r->connections_wanted = 100;
    r->connections_live = 98;
    r->connections_half_open = 1;
    r->connect_elapsed_ns = 500 * MS;
    r->loaded = true;
    r->scheduled_ns = r->sent_ns = 10000 * MS;
    r->n_workers = 2;
    r->host_before = r->host_loaded = r->host_after = (struct host_counters){.cpu_ticks = 1};
    r->host_after.retransmits = HOST_COUNTERS_UNKNOWN;
    r->host_after.loss_probes = 172;
    r->host_after.dsacks = 171;
    tally_add(&r->tally.connections.retransmits, 180);
    tally_add(&r->tally.connections.needless_retransmits, 171);
    tally_add(&r->tally.connections.opening_retransmits, 4);
    r->host_after.tcp_memory_pressures = 4;
    r->verdict = (struct verdict_input){
        .scheduled = 1003, .unsent = 3, .sent_on_schedule = 1, .has_latency = true};
    r->verdict.n_latencies = 1000;
    r->verdict.percentiles[4] = (struct verdict_percentile){701000, 1200000};
    r->doubts = 1u << VERDICT_UNSENT;
    r->steered = true;
    r->paused_ns = 2000 * MS;
}

static inline void make_server(struct client_servers *s)
{
    s->n = 1;
    snprintf(s->addresses[0], CLIENT_SERVERS_ADDRESS_BYTES, "127.0.0.1:9000");
    s->before[0] = (struct server_stats){.is_known = true, .accepted = 7, .bytes_sent = 5};
    s->after[0] = (struct server_stats){.is_known = true,
                                        .accepted = 104,
                                        .refused = 1,
                                        .active = 96,
                                        .bytes_sent = 305,
                                        .listen_overflows = UINT64_MAX};
}

static inline int setup(void **state)
{
    struct made_up *m = calloc(1, sizeof *m);
    static char *const command[] = {(char *)"tcpclient", (char *)"--qname=a b\"", NULL};
    char *argv[] = {(char *)"tcpclient", (char *)"-r", (char *)"100", (char *)"host"};
    char error[OPTIONS_ERROR_BYTES];

    if (m == NULL || client_opts_parse(&m->opts, 4, argv, stdout, error) != OPTIONS_RUN ||
        query_init(&m->config.query, 0, &(struct query_ask){0}, error) != 0)
        return -1;
    m->config.n_connections = 100;
    m->config.duration_ns = 10000 * MS;
    m->config.timeout_ns = 5000 * MS;
    make_result(&m->result);
    make_server(&m->servers);
    m->result.servers = &m->servers;
    m->about = (struct report_about){.version = "9.9",
                                     .command = command,
                                     .libevent = "2.x",
                                     .backend = "epoll",
                                     .target = "192.0.2.1:53",
                                     .has_queries = true,
                                     .rate_qps = 100,
                                     .config = &m->config,
                                     .options = client_opts_table(),
                                     .settings = &m->opts};
    *state = m;
    return 0;
}

static inline int teardown(void **state)
{
    struct made_up *m = *state;

    for (int i = 0; i < CLIENT_N_METRICS; i++)
        hist_free(&m->result.metrics[i]);
    query_free(&m->config.query);
    free(m);
    return 0;
}

/* Returns the text that a report prints, to be freed by the caller. */
static inline char *text_of(void (*report)(FILE *, const struct report_about *,
                                           const struct client_result *),
                            const struct made_up *m)
{
    report(print_open(), &m->about, &m->result);
    return print_close();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
