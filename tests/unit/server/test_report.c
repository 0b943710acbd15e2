/* SPDX-License-Identifier: MIT
 * test_server_report: every figure of a made-up server appears in the right place of the summary,
 * the statistics line, the JSON and the metrics. */
#include "server/report.h"

#include "base/units.h"
#include "print_steps.h"
#include "server/metrics.h"
#include "server/opts.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct server_tally workers[2];
static const struct server_tally *const worker_list[] = {&workers[0], &workers[1]};
static struct server_opts opts;
static struct server_result result;
static char *text;

/* Two workers: the counts of the first are their positions in the tally, from 1, those of the
 * second 100 times that. */
static int setup(void **state)
{
    (void)state;
    memset(workers, 0, sizeof workers);
    for (size_t i = 0; i < sizeof *workers / sizeof(tally_count); i++) {
        tally_add((tally_count *)&workers[0] + i, i + 1);
        tally_add((tally_count *)&workers[1] + i, 100 * (i + 1));
    }
    opts = (struct server_opts){.bind = "::"};
    result = (struct server_result){.state = SERVER_PAUSED,
                                    .workers = worker_list,
                                    .n_workers = 2,
                                    .started_epoch_ns = 1769903999123000000,
                                    .elapsed_ns = 2500000000,
                                    .active = 321,
                                    .peak = 4321,
                                    .version = "9.9",
                                    .libevent = "2.2",
                                    .backend = "epoll",
                                    .address = "[::]:4242",
                                    .options = server_opts_table(),
                                    .settings = &opts};
    result.now.user_us = 3000000;
    result.before.user_us = 1000000;
    result.now.system_us = 700000;
    result.before.system_us = 200000;
    result.now.rss_bytes = 4 << 20;
    result.now.peak_rss_bytes = 5 << 20;
    result.before.tcp_memory_bytes = 8192; /* what there is now counts, not the difference */
    result.now.tcp_memory_bytes = 12288;
    result.before.tcp_memory_pressures = 3;
    result.now.tcp_memory_pressures = 5;
    result.now.listen_overflows = 17;
    result.before.listen_overflows = 10;
    result.now.listen_drops = result.before.listen_drops = HOST_COUNTERS_UNKNOWN;
    for (int i = 0; i < 2; i++)
        server_tally_merge(&result.total, &workers[i]);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(text);
    text = NULL;
    return 0;
}

/* Each count of the total is 101 times its position. */
#define TOTAL(field) (101ull * (offsetof(struct server_tally, field) / sizeof(tally_count) + 1))

static void assert_reported(const char *format, ...)
{
    char expected[500];
    va_list args;

    va_start(args, format);
    vsnprintf(expected, sizeof expected, format, args);
    va_end(args);
    assert_has(text, expected);
}

/* As the summary prints it. */
static const char *counted(char commas[UNITS_TEXT_BYTES], unsigned long long n)
{
    return units_format_count(commas, n);
}

static void print(void (*report)(FILE *out, const struct server_result *r))
{
    report(print_open(), &result);
    text = print_close();
}

static void summary_has_the_totals(void **state)
{
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    (void)state;
    print(server_report_text);
    assert_reported("tcpserver 9.9 on [::]:4242, 2 threads, 2.50 s\n");
    assert_reported("Connections  %llu accepted, 321 active, 4,321 at the peak, %s refused\n",
                    TOTAL(accepted), counted(a, TOTAL(n_refused)));
    assert_reported(", no PROXY header: %s, late PROXY header: %s\n",
                    counted(a, TOTAL(refused[SERVER_REFUSED_HEADER_MISSING])),
                    counted(b, TOTAL(refused[SERVER_REFUSED_HEADER_LATE])));
    assert_reported("connections of one source: %llu", TOTAL(refused[SERVER_REFUSED_SOURCE]));
    assert_reported(
        "%.2f s user, 0.50 s system, 5.00 MiB resident at the peak, 7 listen overflows, "
        "TCP memory pressure 2 times\n",
        2.0);
    assert_reported("run: finished\n");
    assert_reported("\nBytes        %s received, %s sent\n", counted(a, TOTAL(bytes_received)),
                    counted(b, TOTAL(bytes_sent)));
    assert_reported("\nPauses       accepting paused %s times, reading %s times (peer not "
                    "reading)\n",
                    counted(a, TOTAL(accept_pauses)), counted(b, TOTAL(back_pressure_pauses)));
    assert_null(strstr(text, "TLS")); /* not used */
    assert_null(strstr(text, "PROXY  "));
    assert_null(strstr(text, "pushed"));
    free(text);
    result.now.tcp_memory_pressures = result.before.tcp_memory_pressures;
    print(server_report_text);
    assert_reported(" 7 listen overflows\n");
    free(text);
    result.now.tcp_memory_pressures = result.now.listen_overflows = HOST_COUNTERS_UNKNOWN;
    print(server_report_text);
    assert_reported(" 5.00 MiB resident at the peak\n");
}

static void summary_shows_what_is_used(void **state)
{
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    (void)state;
    result.has_tls = result.has_headers = result.pushes = true;
    print(server_report_text);
    assert_reported("\nTLS          %s handshakes, %s resumed\n", counted(a, TOTAL(secured)),
                    counted(b, TOTAL(resumed)));
    assert_reported("\nPROXY        %s headers, %s without a client\n", counted(a, TOTAL(headers)),
                    counted(b, TOTAL(headers_local)));
    assert_reported("\nPush         %s messages pushed, %s dropped because",
                    counted(a, TOTAL(pushed)), counted(b, TOTAL(push_dropped)));
}

static void statistics_line_has_rates_since_the_previous_one(void **state)
{
    struct server_tally previous = workers[1];

    (void)state;
    tally_add(&previous.bytes_received, 9000000);
    tally_add(&result.total.bytes_received, 10500000);
    tally_add(&previous.bytes_sent, 2000000);
    tally_add(&result.total.bytes_sent, 2700000);
    server_report_line(print_open(), &result, &previous, 500000000);
    text = print_close();
    /* worker 0's counts in half a second */
    assert_reported("tcpserver: 2.5 s, 321 active, %llu accepted/s, %llu closed/s, ",
                    2 * TOTAL(accepted) / 101, 2 * TOTAL(n_closed) / 101);
    assert_reported(", 3.000 MB/s in, 1.400 MB/s out, %llu refused\n", TOTAL(n_refused));
    free(text);
    result.pushes = true;
    server_report_line(print_open(), &result, &previous, 500000000);
    text = print_close();
    assert_reported(" refused, %llu pushed/s, %llu dropped\n", 2 * TOTAL(pushed) / 101,
                    TOTAL(push_dropped));
}

static void json_has_totals_and_each_worker(void **state)
{
    const char *of_workers;

    (void)state;
    print(server_report_json);
    assert_reported(
        "\"program\": \"tcpserver\",\n  \"version\": \"9.9\",\n  \"state\": \"paused\"");
    assert_reported("\n  \"address\": \"[::]:4242\",\n  \"libevent\": \"2.2\",\n"
                    "  \"backend\": \"epoll\",\n");
    assert_reported("\n  \"accepted\": %llu,", TOTAL(accepted));
    assert_reported("\"run/finished\": %llu", TOTAL(closed[PHASE_RUN][REASON_FINISHED]));
    assert_reported("\"connections of one source\": %llu", TOTAL(refused[SERVER_REFUSED_SOURCE]));
    assert_reported("\n  \"refused\": %llu,", TOTAL(n_refused));
    assert_reported("\n  \"proxy_headers\": %llu,\n  \"proxy_headers_local\": %llu,\n"
                    "  \"proxy_header_bytes\": %llu,",
                    TOTAL(headers), TOTAL(headers_local), TOTAL(header_bytes));
    assert_reported("\n  \"tls_handshakes\": %llu,\n  \"tls_resumed\": %llu,", TOTAL(secured),
                    TOTAL(resumed));
    assert_reported("\n  \"bytes_received\": %llu,\n  \"bytes_sent\": %llu,", TOTAL(bytes_received),
                    TOTAL(bytes_sent));
    assert_reported("\n  \"pushed\": %llu,\n  \"push_dropped\": %llu,", TOTAL(pushed),
                    TOTAL(push_dropped));
    assert_reported("\n  \"accept_pauses\": %llu,\n  \"back_pressure_pauses\": %llu,",
                    TOTAL(accept_pauses), TOTAL(back_pressure_pauses));
    assert_reported("\n  \"elapsed_s\": 2.5,\n  \"active\": 321,\n  \"peak\": 4321,");
    assert_reported("\n  \"listen_overflows\": 7,\n  \"listen_drops\": null,\n"
                    "  \"tcp_memory_pressures\": 2,\n  \"tcp_memory_bytes\": 12288,\n"
                    "  \"rss_bytes\": 4194304,\n  \"peak_rss_bytes\": 5242880,");
    assert_reported("\n  \"user_s\": 2,\n  \"system_s\": 0.5,");
    assert_reported("\"bind\": \"::\"");
    of_workers = strstr(text, "\"workers\": [");
    assert_non_null(of_workers);
    assert_non_null(strstr(of_workers, "\"bytes_sent\": "));
    assert_reported("    {\n      \"active\": %llu,\n      \"accepted\": %llu,\n",
                    (unsigned long long)server_tally_active(&workers[1]),
                    TOTAL(accepted) / 101 * 100);
    assert_null(strstr(of_workers, "peak"));
}

static void put_metrics(FILE *out, const struct server_result *r)
{
    struct openmetrics m;

    openmetrics_init(&m, out, "application/openmetrics-text;version=1.0.0");
    server_metrics(&m, r);
}

static void metrics_have_a_sample_per_worker(void **state)
{
    uint64_t sum = 0;

    (void)state;
    print(put_metrics);
    assert_int_equal(openmetrics_sum(text, "tcpserver_connections_accepted_total", &sum), 0);
    assert_int_equal(sum, TOTAL(accepted));
    assert_reported("tcpserver_sent_bytes_total{worker=\"1\"} %llu\n",
                    TOTAL(bytes_sent) / 101 * 100);
    assert_reported("tcpserver_refusals_total{limit=\"connections of one source\"} %llu\n",
                    TOTAL(refused[SERVER_REFUSED_SOURCE]));
    assert_reported("tcpserver_received_bytes_total{worker=\"1\"} %llu\n",
                    TOTAL(bytes_received) / 101 * 100);
    assert_reported("tcpserver_connections_refused_total{worker=\"1\"} %llu\n",
                    TOTAL(n_refused) / 101 * 100);
    assert_reported("tcpserver_connections_closed_total{worker=\"1\"} %llu\n",
                    TOTAL(n_closed) / 101 * 100);
    assert_reported("tcpserver_connections_active{worker=\"1\"} %llu\n",
                    (unsigned long long)server_tally_active(&workers[1]));
    assert_reported("tcpserver_connection_ends_total{outcome=\"run/finished\"} %llu\n",
                    TOTAL(closed[PHASE_RUN][REASON_FINISHED]));
    assert_reported("tcpserver_proxy_headers_total{worker=\"1\"} %llu\n",
                    TOTAL(headers) / 101 * 100);
    assert_reported("tcpserver_proxy_headers_local_total{worker=\"1\"} %llu\n",
                    TOTAL(headers_local) / 101 * 100);
    assert_reported("tcpserver_proxy_header_bytes_total{worker=\"1\"} %llu\n",
                    TOTAL(header_bytes) / 101 * 100);
    assert_reported("tcpserver_tls_handshakes_total{worker=\"1\"} %llu\n",
                    TOTAL(secured) / 101 * 100);
    assert_reported("tcpserver_tls_handshakes_resumed_total{worker=\"1\"} %llu\n",
                    TOTAL(resumed) / 101 * 100);
    assert_reported("tcpserver_messages_pushed_total{worker=\"1\"} %llu\n",
                    TOTAL(pushed) / 101 * 100);
    assert_reported("tcpserver_messages_dropped_total{worker=\"1\"} %llu\n",
                    TOTAL(push_dropped) / 101 * 100);
    assert_reported("tcpserver_accept_pauses_total{worker=\"1\"} %llu\n",
                    TOTAL(accept_pauses) / 101 * 100);
    assert_reported("tcpserver_back_pressure_pauses_total{worker=\"1\"} %llu\n",
                    TOTAL(back_pressure_pauses) / 101 * 100);
    assert_reported("\ntcpserver_listen_overflows_total 7\n");
    assert_reported("\ntcpserver_tcp_memory_pressures_total 2\n");
    assert_reported("\ntcpserver_resident_memory_bytes 4194304\n");
    assert_reported("\ntcpserver_tcp_memory_bytes 12288\n");
    assert_reported("\ntcpserver_paused 1\n");
    assert_reported("\ntcpserver_start_time_seconds 1769903999.123000000\n");
    assert_reported("\ntcpserver_cpu_seconds_total 2.5\n");
    assert_reported("\ntcpserver_connections_peak 4321\n");
    assert_null(strstr(text, "tcpserver_listen_drops_total ")); /* unknown */
}

/* But for n_closed, which is the sum of others. */
static void every_count_is_in_the_json_and_the_metrics(void **state)
{
    char value[2][64];

    (void)state;
    print(server_report_json);
    for (size_t i = 0; i < sizeof *workers / sizeof(tally_count); i++) {
        snprintf(value[0], sizeof value[0], "\": %zu,\n", 100 * (i + 1));
        snprintf(value[1], sizeof value[1], "\": %zu\n", 100 * (i + 1)); /* the last of an object */
        if (i != offsetof(struct server_tally, n_closed) / sizeof(tally_count) &&
            strstr(text, value[0]) == NULL && strstr(text, value[1]) == NULL)
            fail_msg("the JSON lacks count %zu of struct server_tally", i);
    }
    free(text);
    print(put_metrics);
    for (size_t i = 0; i < sizeof *workers / sizeof(tally_count); i++) {
        snprintf(value[0], sizeof value[0], "\"} %zu\n", 100 * (i + 1)); /* of worker 1 */
        snprintf(value[1], sizeof value[1], "\"} %zu\n", 101 * (i + 1)); /* of both, by reason */
        if (strstr(text, value[0]) == NULL && strstr(text, value[1]) == NULL)
            fail_msg("the metrics lack count %zu of struct server_tally", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(summary_has_the_totals, setup, teardown),
        cmocka_unit_test_setup_teardown(summary_shows_what_is_used, setup, teardown),
        cmocka_unit_test_setup_teardown(statistics_line_has_rates_since_the_previous_one, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(json_has_totals_and_each_worker, setup, teardown),
        cmocka_unit_test_setup_teardown(metrics_have_a_sample_per_worker, setup, teardown),
        cmocka_unit_test_setup_teardown(every_count_is_in_the_json_and_the_metrics, setup,
                                        teardown),
    };
    static char name[] = "tcpserver";

    program_invocation_short_name = name;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
