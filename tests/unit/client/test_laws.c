/* SPDX-License-Identifier: MIT
 * test_laws: made-up results whose counts do not add up. */
#include "client/laws.h"

#include "judge_steps.h"

static void assert_breaks(const struct made_up *m, const char *law)
{
    const char *broken = client_laws_broken(&m->result, &m->plan.config);

    assert_non_null(broken);
    assert_string_equal(broken, law);
}

static void counts_have_to_add_up(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    tally_count *const counts[] = {&r->tally.demand.requested, &r->tally.demand.withdrawn,
                                   &r->tally.demand.waited, &r->tally.demand.carried};
    const uint64_t values[] = {1, 1, N_QUERIES, N_QUERIES};

    r->connections_requested++;
    assert_breaks(m, "connections requested and reopened = outcomes of connections");
    r->connections_requested--;
    m->plan.config.on_demand = true;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        tally_add(counts[i], values[i]);
    assert_null(client_laws_broken(r, &m->plan.config));
    tally_add(&r->tally.demand.requested, 1);
    assert_breaks(m, "connections requested on demand = attempted + withdrawn");
    tally_sub(&r->tally.demand.requested, 1);
    m->plan.config.keepalive = true;
    assert_breaks(
        m, "answered queries = answers with, without and with a malformed keepalive timeout");
    m->plan.config.keepalive = m->plan.config.on_demand = false;
    m->plan.config.n_classes = 2;
    assert_breaks(m, "queries of all classes = queries");
}

static void answers_and_their_rows_have_to_add_up(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    r->has_rows = true;
    r->rows.written[1] = N_QUERIES - 2;
    r->rows.left_out[1] = 1;
    assert_breaks(m, "answered queries, messages = answer rows written, missing and not sampled");
    r->rows.left_out[1] = 2;
    assert_null(client_laws_broken(r, &m->plan.config));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(counts_have_to_add_up),
        TEST(answers_and_their_rows_have_to_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
