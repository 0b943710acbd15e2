/* SPDX-License-Identifier: MIT
 * test_diagnose: when connections count as missing. */
#include "client/diagnose.h"

#include "judge_steps.h"

static void missing_connections_are_diagnosed(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    tally_add(&r->tally.connections.ended[PHASE_CONNECT][REASON_REFUSED], 4);
    client_diagnose(r, &m->plan, true);
    assert_int_equal(r->diagnosis.n_lines, 0); /* none is missing */
    r->connections_live = N_CONNECTIONS - 4;
    client_diagnose(r, &m->plan, true);
    assert_int_equal(r->diagnosis.n_lines, 1);
    assert_int_equal(r->diagnosis.lines[0].connections, 4);
}

/* A connection is missing between the end of one and the start of its replacement. */
static void connections_that_follow_one_another_are_not_missing(void **state)
{
    struct made_up *m = *state;

    m->plan.config.queries_per_conn = 100;
    m->result.connections_live = 0;
    client_diagnose(&m->result, &m->plan, true);
    assert_int_equal(m->result.diagnosis.n_lines, 0);
    m->result.connections_deaf = 1;
    client_diagnose(&m->result, &m->plan, true);
    assert_int_equal(m->result.diagnosis.n_lines, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(missing_connections_are_diagnosed),
        TEST(connections_that_follow_one_another_are_not_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
