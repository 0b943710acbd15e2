/* SPDX-License-Identifier: MIT
 * test_report_demand: connections on demand in the reports. */
#include "report_steps.h"

static void reuse_of_connections_on_demand_is_reported(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.on_demand = true;
    tally_add(&m->result.tally.demand.opened, 250);
    tally_add(&m->result.tally.demand.waited, 300);
    tally_add(&m->result.tally.demand.carried, 1000);
    tally_add(&m->result.tally.demand.carried_by[3], 250);
    text = text_of(report_text, m);
    assert_has(text, "100 of 100 clients tried to connect, 4 queries per connection\n");
    assert_has(text, "reuse ratio 0.75; 300 queries (30 %) waited for a connection, 0 failed");
    assert_has(text, "connections by queries: 250 with 3-4\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"reuse_ratio\": 0.75");
    free(text);
}

static void less_than_all_is_not_reported_as_all(void **state)
{
    struct made_up *m = *state;
    uint64_t n_sent;
    char *text;

    m->config.on_demand = true;
    tally_add(&m->result.tally.queries[TALLY_MEASURED].sent, 1000000);
    n_sent = tally_sent(&m->result.tally);
    tally_add(&m->result.tally.demand.opened, 1);
    tally_add(&m->result.tally.demand.waited, n_sent - 1);
    text = text_of(report_text, m);
    assert_has(text, "reuse ratio 0.9999; ");
    assert_has(text, "(99.99 %) waited for a connection");
    free(text);
}

static void ratio_to_nothing_is_unknown(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.on_demand = true;
    memset(&m->result.tally, 0, sizeof m->result.tally);
    text = text_of(report_text, m);
    assert_has(text, "clients tried to connect, - queries per connection\n");
    assert_has(text, "reuse ratio -; 0 queries (- %) waited for a connection, 0 failed");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"reuse_ratio\": null");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reuse_of_connections_on_demand_is_reported),
        TEST(less_than_all_is_not_reported_as_all),
        TEST(ratio_to_nothing_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
