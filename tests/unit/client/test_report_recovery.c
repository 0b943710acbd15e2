/* SPDX-License-Identifier: MIT
 * test_report_recovery: lost connections in the reports. */
#include "report_steps.h"

static void run_that_lost_no_connection_says_nothing(void **state)
{
    char *text = text_of(report_text, *state);

    assert_null(strstr(text, "Recovery"));
    free(text);
    text = text_of(report_json, *state);
    assert_has(text, "\"recovery\": null");
    free(text);
}

/* 100 lost: 60 back after 2 s, 32 after 4 s, 8 never. */
static void lose_connections(struct made_up *m)
{
    struct hist *h = &m->result.metrics[CLIENT_RECOVERY];

    for (int i = 0; i < 92; i++)
        hist_record(h, i < 60 ? 2000 * MS : 4000 * MS);
    hist_record_beyond(h, 8);
}

static void shares_count_those_that_never_came_back(void **state)
{
    struct made_up *m = *state;
    char *text;

    lose_connections(m);
    text = text_of(report_text, m);
    assert_has(text, "Recovery     100 connections lost, 92 back: 50 % within 2.00 s, "
                     "90 % within 4.00 s, 99 % never\n");
    free(text);
}

static void as_many_may_come_back_as_do_not(void **state)
{
    struct made_up *m = *state;
    char *text;

    hist_record(&m->result.metrics[CLIENT_RECOVERY], 3000 * MS);
    hist_record_beyond(&m->result.metrics[CLIENT_RECOVERY], 1);
    text = text_of(report_text, m);
    assert_has(text, "Recovery     2 connections lost, 1 back: 50 % within 3.00 s, 90 % never, "
                     "99 % never\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"recovery\": {\n    \"lost\": 2,\n    \"back\": 1,\n");
    free(text);
}

/* The query timeout of 5 s has nothing to do with them. */
static void percentile_among_those_that_never_came_back_is_never(void **state)
{
    struct made_up *m = *state;
    char *text;

    lose_connections(m);
    hist_record_beyond(&m->result.metrics[CLIENT_RECOVERY], 8);
    text = text_of(report_text, m);
    assert_has(text, "\nrecovery       2.00 s    2.00 s     never ");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"p90\": \"beyond\"");
    free(text);
}

/* 80 opened and connected after 1 ms, 20 never. */
static void percentile_among_arrivals_that_never_connected_is_never(void **state)
{
    struct made_up *m = *state;
    struct hist *h = &m->result.metrics[CLIENT_DUE_CONNECTED];
    char *text;

    m->config.connect_arrival = CLIENT_CONNECT_POISSON;
    m->config.connect_timeout_ns = 5000 * MS;
    record(&m->result.metrics[CLIENT_OPEN_LAG], 10 * US, 100);
    record(h, 1 * MS, 80);
    hist_record_beyond(h, 20);
    text = text_of(report_text, m);
    assert_has(text, "\nconnected     1.00 ms   1.00 ms     never ");
    assert_null(strstr(text, "secured"));
    free(text);
}

static void handshakes_of_arrivals_are_explained_with_tls(void **state)
{
    struct made_up *m = *state;
    struct tls_context tls;
    char *text;

    m->config.connect_arrival = CLIENT_CONNECT_POISSON;
    m->config.tls = &tls;
    record(&m->result.metrics[CLIENT_OPEN_LAG], 10 * US, 1);
    text = text_of(report_text, m);
    assert_has(text, "secured: until the end of the TLS handshake;\n");
    free(text);
}

/* 162 of 300 sent no query, and were not asked to. */
static void arrivals_without_a_query_are_left_out_of_the_answered(void **state)
{
    static const char left_out[] = "than all others\n  with --prove no, answered and from open are "
                                   "only of connections that had an answer\n";
    struct made_up *m = *state;
    struct hist *h = &m->result.metrics[CLIENT_DUE_ANSWERED];
    char *text;

    m->config.connect_arrival = CLIENT_CONNECT_POISSON;
    record(&m->result.metrics[CLIENT_OPEN_LAG], 10 * US, 300);
    record(h, 1100 * MS, 138);
    text = text_of(report_text, m);
    assert_has(text, left_out);
    free(text);
    hist_record_beyond(h, 162);
    text = text_of(report_text, m);
    assert_has(text, "than all others\n");
    assert_null(strstr(text, left_out));
    free(text);
}

static void all_are_back_when_none_is_missing(void **state)
{
    struct made_up *m = *state;
    char *text;

    hist_record(&m->result.metrics[CLIENT_RECOVERY], 3000 * MS);
    text = text_of(report_text, m);
    assert_has(text, "Recovery     1 connection lost, 1 back: 50 % within 3.00 s, "
                     "90 % within 3.00 s, 99 % within 3.00 s, all within 3.00 s\n");
    free(text);
}

/* Retransmits while the connections were opened do not belong to the recovery. */
static void what_happened_before_the_load_is_left_out(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text;

    lose_connections(m);
    tally_add(&r->tally.connections.syn_retransmits, 45);
    r->syn_retransmits_loaded = 30;
    r->host_before.listen_overflows = 1;
    r->host_loaded.listen_overflows = 10;
    r->host_after.listen_overflows = 17;
    r->host_before.listen_drops = r->host_loaded.listen_drops = 20;
    r->host_after.listen_drops = 28;
    text = text_of(report_text, m);
    assert_has(text, "since the load began: 15 SYN retransmits; on this host 7 listen overflows, "
                     "8 drops\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "\"recovery\": {\n    \"lost\": 100,\n    \"back\": 92,\n"
                     "    \"syn_retransmits\": 15,\n    \"listen_overflows\": 7,\n"
                     "    \"listen_drops\": 8\n  },");
    free(text);
}

static void without_a_load_nothing_is_counted_since_it_began(void **state)
{
    struct made_up *m = *state;
    char *text;

    lose_connections(m);
    m->result.loaded = false;
    m->result.host_before.listen_overflows = m->result.host_after.listen_overflows = 12345;
    text = text_of(report_text, m);
    assert_has(text, "Recovery ");
    assert_has(text, "             since the load began: 0 SYN retransmits\n");
    free(text);
    text = text_of(report_json, m);
    assert_has(text, "    \"listen_overflows\": null,\n    \"listen_drops\": null\n  },");
    free(text);
}

static void one_of_each_is_singular(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    char *text;

    hist_record(&r->metrics[CLIENT_RECOVERY], 1000 * MS);
    tally_add(&r->tally.connections.syn_retransmits, 1);
    r->host_loaded.listen_overflows = r->host_loaded.listen_drops = 6;
    r->host_after.listen_overflows = r->host_after.listen_drops = 7;
    text = text_of(report_text, m);
    assert_has(text, "Recovery     1 connection lost, 1 back");
    assert_has(text,
               "since the load began: 1 SYN retransmit; on this host 1 listen overflow, 1 drop\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(run_that_lost_no_connection_says_nothing),
        TEST(shares_count_those_that_never_came_back),
        TEST(as_many_may_come_back_as_do_not),
        TEST(percentile_among_those_that_never_came_back_is_never),
        TEST(percentile_among_arrivals_that_never_connected_is_never),
        TEST(handshakes_of_arrivals_are_explained_with_tls),
        TEST(arrivals_without_a_query_are_left_out_of_the_answered),
        TEST(all_are_back_when_none_is_missing),
        TEST(one_of_each_is_singular),
        TEST(what_happened_before_the_load_is_left_out),
        TEST(without_a_load_nothing_is_counted_since_it_began),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
