/* SPDX-License-Identifier: MIT
 * test_client_metrics: every figure of a made-up run appears under its name. */
#include "client/metrics.h"

#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct client_config config;
static struct client_result result;
static char *text;

static int setup(void **state)
{
    (void)state;
    memset(&config, 0, sizeof config);
    memset(&result, 0, sizeof result);
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        if (hist_init(&result.metrics[m]) != 0)
            return -1;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        hist_free(&result.metrics[m]);
    free(text);
    text = NULL;
    return 0;
}

static void print(void)
{
    struct openmetrics m;

    openmetrics_init(&m, print_open(), "application/openmetrics-text;version=1.0.0");
    client_metrics(&m, &config, &result);
    text = print_close();
}

static void assert_value(const char *name, uint64_t expected)
{
    uint64_t sum;

    if (openmetrics_sum(text, name, &sum) != 0)
        fail_msg("no sample of %s in:\n%s", name, text);
    assert_int_equal(sum, expected);
}

static void counts_have_their_names(void **state)
{
    struct tally *t = &result.tally;
    struct tally_queries *q = &t->queries[TALLY_MEASURED];

    (void)state;
    tally_add(&q->scheduled, 1);
    tally_add(&q->sent, 2);
    tally_add(&q->unsent, 3);
    tally_add(&q->answered, 4);
    tally_add(&q->timeout, 5);
    tally_add(&q->error, 6);
    tally_add(&q->cancelled, 7);
    tally_add(&t->queries[TALLY_WARMUP].sent, 1000); /* left out */
    tally_add(&t->connections.attempted, 8);
    tally_add(&t->connections.reopened, 9);
    tally_add(&t->connections.connected, 10);
    tally_add(&t->connections.proven, 11);
    tally_add(&t->connections.ended[PHASE_CONNECT][REASON_REFUSED], 12);
    tally_add(&t->errors[PHASE_RECEIVE][REASON_RESET], 13);
    tally_add(&t->bytes_sent, 14);
    tally_add(&t->bytes_received, 15);
    tally_add(&t->late, 16);
    tally_add(&t->duplicate, 17);
    tally_add(&t->unknown_id, 18);
    print();
    assert_value("tcpclient_queries_scheduled_total", 1);
    assert_value("tcpclient_queries_sent_total", 2);
    assert_value("tcpclient_queries_unsent_total", 3);
    assert_value("tcpclient_queries_answered_total", 4);
    assert_value("tcpclient_queries_timeout_total", 5);
    assert_value("tcpclient_queries_error_total", 6);
    assert_value("tcpclient_queries_cancelled_total", 7);
    assert_value("tcpclient_connections_attempted_total", 8);
    assert_value("tcpclient_connections_reopened_total", 9);
    assert_value("tcpclient_connections_connected_total", 10);
    assert_value("tcpclient_connections_proven_total", 11);
    assert_value("tcpclient_connection_ends_total", 12);
    assert_value("tcpclient_query_errors_total", 13);
    assert_value("tcpclient_sent_bytes_total", 14);
    assert_value("tcpclient_received_bytes_total", 15);
    assert_value("tcpclient_answers_late_total", 16);
    assert_value("tcpclient_answers_duplicate_total", 17);
    assert_value("tcpclient_answers_unknown_id_total", 18);
    assert_non_null(strstr(text, "_ends_total{outcome=\"connect/refused\"} 12\n"));
    assert_non_null(strstr(text, "_errors_total{outcome=\"receive/reset\"} 13\n"));
}

static void gauges_have_their_names(void **state)
{
    (void)state;
    result.connections_requested = 1;
    result.connections_wanted = 2;
    result.connections_live = 3;
    result.connections_half_open = 4;
    result.in_flight = 5;
    result.rate_now_qps = 6.5;
    result.state = CLIENT_RUN_PAUSED;
    result.host_after.rss_bytes = 7;
    print();
    assert_value("tcpclient_connections_asked_total", 1);
    assert_value("tcpclient_connections_wanted", 2);
    assert_value("tcpclient_connections_live", 3);
    assert_value("tcpclient_connections_half_open", 4);
    assert_value("tcpclient_queries_in_flight", 5);
    assert_non_null(strstr(text, "\ntcpclient_rate_asked 6.5\n"));
    assert_value("tcpclient_paused", 1);
    assert_value("tcpclient_resident_memory_bytes", 7);
}

static void closed_loops_and_listeners_have_no_rate(void **state)
{
    (void)state;
    config.loop = CLIENT_LOOP_CLOSED;
    print();
    assert_null(strstr(text, "tcpclient_rate_asked"));
    free(text);
    config.loop = CLIENT_LOOP_OPEN;
    config.listens = true;
    print();
    assert_null(strstr(text, "tcpclient_rate_asked"));
}

static void unanswered_queries_are_in_the_count_but_not_in_the_sum(void **state)
{
    (void)state;
    hist_record(&result.metrics[CLIENT_RESPONSE], 1000000000);
    hist_record_beyond(&result.metrics[CLIENT_RESPONSE], 2);
    hist_record(&result.metrics[CLIENT_SEND_LAG], 1);
    print();
    assert_value("tcpclient_response_seconds_count", 3);
    assert_non_null(strstr(text, "tcpclient_response_seconds_sum 1\n"));
    assert_value("tcpclient_send_lag_seconds_count", 1);
    assert_value("tcpclient_service_seconds_count", 0);
    assert_non_null(strstr(text, "\n# EOF\n"));
}

static void datagrams_are_counted_over_udp_only(void **state)
{
    (void)state;
    tally_add(&result.tally.datagrams.malformed, 1);
    tally_add(&result.tally.datagrams.dropped, 2);
    print();
    assert_null(strstr(text, "datagrams"));
    free(text);
    config.socket.datagrams = config.knows_drops = true;
    print();
    assert_value("tcpclient_datagrams_malformed_total", 1);
    assert_value("tcpclient_datagrams_dropped_total", 2);
    free(text);
    config.knows_drops = false;
    print();
    assert_value("tcpclient_datagrams_malformed_total", 1);
    assert_null(strstr(text, "tcpclient_datagrams_dropped_total 2")); /* unknown */
}

static void retransmits_are_counted_over_tcp_only(void **state)
{
    (void)state;
    tally_add(&result.tally.connections.syn_retransmits, 1);
    tally_add(&result.tally.connections.retransmits, 2);
    print();
    assert_value("tcpclient_syn_retransmits_total", 1);
    assert_value("tcpclient_retransmits_total", 2);
    free(text);
    config.socket.datagrams = true;
    print();
    assert_null(strstr(text, "retransmits"));
}

static void connections_on_demand_have_their_counts(void **state)
{
    struct tally_demand *d = &result.tally.demand;

    (void)state;
    tally_add(&d->requested, 1);
    tally_add(&d->opened, 2);
    tally_add(&result.tally.queries[TALLY_MEASURED].unconnected, 3);
    tally_add(&d->keepalives, 4);
    tally_add(&d->no_keepalive, 5);
    tally_add(&d->bad_keepalive, 6);
    print();
    assert_null(strstr(text, "tcpclient_demand"));
    free(text);
    config.on_demand = true;
    print();
    assert_value("tcpclient_demand_requested_total", 1);
    assert_value("tcpclient_demand_opened_total", 2);
    assert_value("tcpclient_queries_unconnected_total", 3);
    assert_null(strstr(text, "keepalive"));
    free(text);
    config.keepalive = true;
    print();
    assert_value("tcpclient_keepalive_timeouts_total", 4);
    assert_value("tcpclient_keepalive_none_total", 5);
    assert_value("tcpclient_keepalive_malformed_total", 6);
}

static void messages_are_counted_by_listeners_only(void **state)
{
    struct tally_push *p = &result.tally.push;

    (void)state;
    print();
    assert_null(strstr(text, "messages"));
    free(text);
    config.listens = true;
    tally_add(&p->before, 1);
    tally_add(&p->measured, 2);
    tally_add(&p->after, 3);
    tally_add(&p->lost, 4);
    tally_add(&p->duplicate, 5);
    tally_add(&p->damaged, 6);
    tally_add(&p->negative, 7);
    tally_add(&p->unfinished, 8);
    print();
    assert_value("tcpclient_messages_before_total", 1);
    assert_value("tcpclient_messages_measured_total", 2);
    assert_value("tcpclient_messages_after_total", 3);
    assert_value("tcpclient_messages_lost_total", 4);
    assert_value("tcpclient_messages_duplicate_total", 5);
    assert_value("tcpclient_messages_damaged_total", 6);
    assert_value("tcpclient_messages_negative_total", 7);
    assert_value("tcpclient_connections_unfinished_total", 8);
}

static void handshakes_are_counted_with_tls_only(void **state)
{
    (void)state;
    tally_add(&result.tally.connections.secured, 1);
    tally_add(&result.tally.connections.resumed, 2);
    print();
    assert_null(strstr(text, "tls"));
    free(text);
    config.tls = (struct tls_context *)&config; /* any: the metrics only check whether it is set */
    print();
    assert_value("tcpclient_tls_handshakes_total", 1);
    assert_value("tcpclient_tls_handshakes_resumed_total", 2);
}

static void proxy_headers_are_counted_if_they_are_sent(void **state)
{
    (void)state;
    tally_add(&result.tally.headers, 1);
    tally_add(&result.tally.header_bytes, 28);
    print();
    assert_null(strstr(text, "proxy"));
    free(text);
    config.proxy = PROXY_HEADER_V2;
    print();
    assert_value("tcpclient_proxy_headers_total", 1);
    assert_value("tcpclient_proxy_header_bytes_total", 28);
}

static void each_class_has_its_counts(void **state)
{
    static const struct client_class classes[] = {{.name = "stub"}, {.name = "resolver"}};
    struct tally_queries *q = &result.class_tallies[1].queries[TALLY_MEASURED];

    (void)state;
    print();
    assert_null(strstr(text, "class"));
    free(text);
    config.classes = classes;
    config.n_classes = 2;
    result.class_live[0] = 6;
    tally_add(&q->scheduled, 1);
    tally_add(&q->sent, 2);
    tally_add(&q->answered, 3);
    tally_add(&q->timeout, 4);
    tally_add(&q->error, 5);
    print();
    assert_has(text, "\ntcpclient_class_queries_scheduled_total{class=\"stub\"} 0\n"
                     "tcpclient_class_queries_scheduled_total{class=\"resolver\"} 1\n");
    assert_has(text, "tcpclient_class_queries_sent_total{class=\"resolver\"} 2\n");
    assert_has(text, "tcpclient_class_queries_answered_total{class=\"resolver\"} 3\n");
    assert_has(text, "tcpclient_class_queries_timeout_total{class=\"resolver\"} 4\n");
    assert_has(text, "tcpclient_class_queries_error_total{class=\"resolver\"} 5\n");
    assert_has(text, "tcpclient_class_connections_live{class=\"stub\"} 6\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts_have_their_names, setup, teardown),
        cmocka_unit_test_setup_teardown(gauges_have_their_names, setup, teardown),
        cmocka_unit_test_setup_teardown(closed_loops_and_listeners_have_no_rate, setup, teardown),
        cmocka_unit_test_setup_teardown(datagrams_are_counted_over_udp_only, setup, teardown),
        cmocka_unit_test_setup_teardown(retransmits_are_counted_over_tcp_only, setup, teardown),
        cmocka_unit_test_setup_teardown(connections_on_demand_have_their_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(messages_are_counted_by_listeners_only, setup, teardown),
        cmocka_unit_test_setup_teardown(handshakes_are_counted_with_tls_only, setup, teardown),
        cmocka_unit_test_setup_teardown(proxy_headers_are_counted_if_they_are_sent, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(each_class_has_its_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(unanswered_queries_are_in_the_count_but_not_in_the_sum,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
