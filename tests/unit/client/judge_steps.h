/* SPDX-License-Identifier: MIT
 * judge_steps: a made-up result without any reason for doubt, for the tests of the parts that judge
 * it. */
#ifndef TCPSCALER_TESTS_UNIT_CLIENT_JUDGE_STEPS_H
#define TCPSCALER_TESTS_UNIT_CLIENT_JUDGE_STEPS_H

#include "client/plan.h"
#include "client/result.h"
#include "protocol/query_init.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define MS         1000000ull

enum { N_QUERIES = 20000, N_CONNECTIONS = 10 };

struct made_up {
    struct client_plan plan;
    struct client_result result;
};

/* A run of ten connections, all of whose queries were answered within a millisecond. */
static inline int setup(void **state)
{
    struct made_up *m = calloc(1, sizeof *m);
    char error[QUERY_ERROR_BYTES];
    struct client_result *r;
    struct tally_queries *q;

    if (m == NULL ||
        query_init(&m->plan.config.query, QUERY_PING, &(struct query_ask){0}, error) != 0 ||
        hist_init(&m->result.metrics[CLIENT_RESPONSE]) != 0 ||
        hist_init(&m->result.metrics[CLIENT_OWN]) != 0 || losses_init(&m->result.losses) != 0)
        return -1;
    r = &m->result;
    q = &r->tally.queries[TALLY_MEASURED];
    r->connections_requested = r->connections_wanted = r->connections_live = N_CONNECTIONS;
    tally_add(&r->tally.connections.ended[PHASE_RUN][REASON_FINISHED], N_CONNECTIONS);
    tally_add(&q->scheduled, N_QUERIES);
    tally_add(&q->sent, N_QUERIES);
    tally_add(&q->answered, N_QUERIES);
    tally_add(&r->tally.answers.by_code[0], N_QUERIES);
    for (int i = 0; i < N_QUERIES; i++) {
        hist_record(&r->metrics[CLIENT_RESPONSE], MS);
        hist_record(&r->metrics[CLIENT_OWN], MS / 100);
    }
    r->requested_qps = 1000;
    r->scheduled_ns = r->sent_ns = r->unblocked_ns = N_QUERIES * MS;
    r->loaded = true;
    r->host_before.tcp_memory_pressures = r->host_after.tcp_memory_pressures = 3;
    *state = m;
    return 0;
}

static inline int teardown(void **state)
{
    struct made_up *m = *state;

    hist_free(&m->result.metrics[CLIENT_RESPONSE]);
    hist_free(&m->result.metrics[CLIENT_OWN]);
    losses_free(&m->result.losses);
    query_free(&m->plan.config.query);
    free(m);
    return 0;
}

#endif
