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
    assert_has(text, "reuse ratio -; 0 queries (- %) waited for a connection, 0 failed with it\n"
                     "Queries ");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"reuse_ratio\": null,\n    \"waited_ratio\": null,\n"
                     "    \"mean_queries_per_connection\": null,\n");
    free(text);
}

static void connections_that_no_query_used_yet_are_not_reused(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->config.on_demand = true;
    tally_add(&m->result.tally.demand.opened, 2000); /* twice the queries */
    text = text_of(report_text, m);
    assert_has(text, "reuse ratio 0; ");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"reuse_ratio\": 0,");
    free(text);
}

static void counts_on_demand_are_under_their_keys(void **state)
{
    struct made_up *m = *state;
    struct tally_demand *d = &m->result.tally.demand;
    char *text;

    m->config.on_demand = true;
    tally_add(&d->requested, 601);
    tally_add(&d->withdrawn, 602);
    tally_add(&d->opened, 500);
    tally_add(&d->reused, 604);
    tally_add(&d->waited, 250);
    tally_add(&m->result.tally.queries[TALLY_WARMUP].unconnected, 6);
    tally_add(&m->result.tally.queries[TALLY_MEASURED].unconnected, 70);
    tally_add(&d->carried, 30);
    tally_add(&d->carried_by[0], 8);
    tally_add(&d->carried_by[1], 9);
    tally_add(&d->carried_by[4], 3);
    text = text_of(report_json, m);
    assert_has(text, "\"on_demand\": {\n    \"clients\": 100,\n    \"clients_connected\": 100,\n"
                     "    \"requested\": 601,\n    \"withdrawn\": 602,\n    \"opened\": 500,\n"
                     "    \"reused\": 604,\n    \"waited\": 250,\n    \"unconnected\": 76,\n"
                     "    \"reuse_ratio\": 0.5,\n    \"waited_ratio\": 0.25,\n"
                     "    \"mean_queries_per_connection\": 1.5,\n"
                     "    \"queries_per_connection\": {\n      \"0\": 8,\n      \"1\": 9,\n"
                     "      \"5-8\": 3\n    },\n    \"keepalive\": null\n  }");
    free(text);
    text = text_of(report_text, m);
    assert_has(text, " waited for a connection, 76 failed with it\n"
                     "             connections by queries: 8 with 0, 9 with 1, 3 with 5-8\n");
    assert_null(strstr(text, "Keepalive"));
    free(text);
}

static void timeouts_that_the_server_announced_are_reported(void **state)
{
    struct made_up *m = *state;
    struct tally_demand *d = &m->result.tally.demand;
    char *text;

    m->config.on_demand = m->config.keepalive = true;
    tally_add(&d->no_keepalive, 1200);
    tally_add(&d->bad_keepalive, 7);
    text = text_of(report_text, m);
    assert_has(text, "\nKeepalive    0 answers with a timeout, 1,200 without, 7 malformed\n");
    assert_null(strstr(text, "timeouts of"));
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"keepalive\": {\n      \"timeouts\": 0,\n      \"none\": 1200,\n"
                     "      \"malformed\": 7,\n      \"min_s\": null,\n      \"max_s\": null,\n"
                     "      \"most_common_s\": null,\n      \"most_common\": null\n    }");
    free(text);
    assert_int_equal(timeout_counts_init(&m->result.timeouts), 0);
    tally_add(&d->keepalives, 4);
    timeout_counts_add(&m->result.timeouts, 25);
    timeout_counts_add(&m->result.timeouts, 100);
    timeout_counts_add(&m->result.timeouts, 100);
    timeout_counts_add(&m->result.timeouts, 300);
    text = text_of(report_text, m);
    assert_has(text, "\nKeepalive    4 answers with a timeout, 1,200 without, 7 malformed\n"
                     "             timeouts of 2.5 s to 30.0 s, most often 10.0 s (2 answers)\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "      \"min_s\": 2.5,\n      \"max_s\": 30,\n      \"most_common_s\": 10,\n"
                     "      \"most_common\": 2\n    }");
    free(text);
    timeout_counts_free(&m->result.timeouts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reuse_of_connections_on_demand_is_reported),
        TEST(less_than_all_is_not_reported_as_all),
        TEST(ratio_to_nothing_is_unknown),
        TEST(connections_that_no_query_used_yet_are_not_reused),
        TEST(counts_on_demand_are_under_their_keys),
        TEST(timeouts_that_the_server_announced_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
