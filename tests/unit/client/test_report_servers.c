/* SPDX-License-Identifier: MIT
 * test_report_servers: the servers of --server-control in the reports. */
#include "report_steps.h"

/* 97 of the 99 connections and 100 bytes at the first server, the rest at another one. */
static void add_backend(struct made_up *m)
{
    struct client_servers *s = &m->servers;

    s->n = 2;
    snprintf(s->addresses[1], CLIENT_SERVERS_ADDRESS_BYTES, "unix:/run/b");
    s->after[0].bytes_received = 100;
    s->before[1] = (struct server_stats){.is_known = true};
    s->after[1] =
        (struct server_stats){.is_known = true, .accepted = 2, .active = 2, .bytes_received = 300};
}

static void single_server_has_no_table(void **state)
{
    char *text = text_of(report_text, *state);

    assert_has(text, "Server       97 accepted, 1 refused, 96 active; 1 connected here, but not ");
    assert_null(strstr(text, "Backend"));
    free(text);
    text = text_of(report_json, *state);
    assert_has(text, "\"backends\": [\n      {\n        \"address\": \"127.0.0.1:9000\",");
    free(text);
}

static void backends_have_their_shares(void **state)
{
    struct made_up *m = *state;
    char *text;

    add_backend(m);
    text = text_of(report_text, m);
    assert_has(text, "Server       99 accepted, 1 refused, 98 active; 0 connected here");
    assert_has(text, "             1.00 connections here for each one accepted\n");
    assert_has(text,
               "127.0.0.1:9000                    97   98.0 %          96       100 B   25.0 %\n");
    assert_has(
        text,
        "unix:/run/b                        2    2.0 %           2       300 B   75.0 %\nVerdict");
    assert_null(strstr(text, "restart"));
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"connections_ratio\": 1,");
    assert_has(text, "\"address\": \"unix:/run/b\",\n        \"accepted\": 2,");
    assert_has(text, "\"bytes_received_share\": 0.75\n      }\n    ]\n");
    free(text);
}

static void long_addresses_widen_their_column(void **state)
{
    struct made_up *m = *state;
    char *text;

    add_backend(m);
    snprintf(m->servers.addresses[1], CLIENT_SERVERS_ADDRESS_BYTES,
             "unix:/run/balancer/second.sock");
    text = text_of(report_text, m);
    assert_has(
        text,
        "Backend                           accepted    share      active    received    share\n");
    assert_has(
        text,
        "127.0.0.1:9000                          97   98.0 %          96       100 B   25.0 %\n");
    assert_has(
        text,
        "unix:/run/balancer/second.sock           2    2.0 %           2       300 B   75.0 %\n");
    free(text);
    snprintf(m->servers.addresses[0], CLIENT_SERVERS_ADDRESS_BYTES,
             "unix:/run/balancer/the/first.sock");
    text = text_of(report_text, m);
    assert_has(text, "unix:/run/balancer/second.sock              2    2.0 %           2       300 "
                     "B   75.0 %\n");
    free(text);
}

static void server_that_did_not_answer_leaves_the_sums_unknown(void **state)
{
    struct made_up *m = *state;
    char *text;

    add_backend(m);
    m->servers.after[1].is_known = false;
    text = text_of(report_text, m);
    assert_has(text,
               "Server       unknown accepted, unknown refused, unknown active; unknown conn");
    assert_has(text, "accepting paused unknown times, reading unknown times\n\nBackend ");
    assert_has(text,
               "127.0.0.1:9000                    97        -          96       100 B        -\n");
    assert_has(text,
               "unix:/run/b                  unknown        -     unknown           -        -\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"server\": {\n    \"accepted\": null,");
    assert_has(text, "\"connections_ratio\": null,");
    free(text);
    m->servers.after[0].is_known = false;
    text = text_of(report_text, m);
    assert_null(strstr(text, "\nServer "));
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"server\": null");
    free(text);
}

/* Each count is one more than the one before. */
static void counts_of_the_server_are_under_their_keys(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->servers.before[0] = (struct server_stats){.is_known = true};
    m->servers.after[0] = (struct server_stats){.is_known = true,
                                                .accepted = 501,
                                                .refused = 502,
                                                .closed = 503,
                                                .active = 504,
                                                .bytes_received = 505,
                                                .bytes_sent = 506,
                                                .accept_pauses = 507,
                                                .back_pressure_pauses = 508,
                                                .listen_overflows = 509,
                                                .listen_drops = 510};
    text = text_of(report_json, m);
    assert_has(text, "\"server\": {\n    \"accepted\": 501,\n    \"refused\": 502,\n"
                     "    \"closed\": 503,\n    \"active\": 504,\n    \"bytes_received\": 505,\n"
                     "    \"bytes_sent\": 506,\n    \"accept_pauses\": 507,\n"
                     "    \"back_pressure_pauses\": 508,\n    \"listen_overflows\": 509,\n"
                     "    \"listen_drops\": 510,\n    \"restarted\": false,\n");
    free(text);
}

static void one_of_each_is_singular(void **state)
{
    struct made_up *m = *state;
    struct server_stats *before = &m->servers.before[0], *after = &m->servers.after[0];
    char *text;

    after->accept_pauses = before->accept_pauses + 1;
    after->back_pressure_pauses = before->back_pressure_pauses + 1;
    after->listen_overflows = before->listen_overflows + 1;
    after->listen_drops = before->listen_drops + 1;
    text = text_of(report_text, m);
    assert_has(text, "accepting paused 1 time, reading 1 time; 1 listen overflow, 1 drop\n");
    free(text);
}

static void restarted_server_is_named(void **state)
{
    struct made_up *m = *state;
    char *text;

    m->servers.after[0].started_epoch_ns = 60;
    text = text_of(report_text, m);
    assert_has(text, "Server       104 accepted, 1 refused, 96 active; unknown connected here");
    assert_has(text, "             restarted during the run: counts since then\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"restarted\": true,\n    \"not_accepted\": null,\n"
                     "    \"connections_ratio\": null,");
    free(text);
}

/* The sum lacks what the restarted one has forgotten. */
static void shares_of_a_restarted_server_are_unknown(void **state)
{
    struct made_up *m = *state;
    char *text;

    add_backend(m);
    m->servers.after[0].started_epoch_ns = 60;
    text = text_of(report_text, m);
    assert_has(text, "       100 B        -  since its restart\n");
    assert_has(text,
               "unix:/run/b                        2        -           2       300 B        -\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"accepted_share\": null,\n        \"bytes_received_share\": null\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(single_server_has_no_table),
        TEST(backends_have_their_shares),
        TEST(long_addresses_widen_their_column),
        TEST(server_that_did_not_answer_leaves_the_sums_unknown),
        TEST(counts_of_the_server_are_under_their_keys),
        TEST(one_of_each_is_singular),
        TEST(restarted_server_is_named),
        TEST(shares_of_a_restarted_server_are_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
