/* SPDX-License-Identifier: MIT
 * test_server_stats: what a reading makes of a response, and the difference between two readings.
 * Linked with --wrap=control_client_ask. */
#include "client/server_stats.h"

#include "net/control_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct control_token token;
static const char *response; /* NULL: none */

int __wrap_control_client_ask(const char *address, const struct control_token *t, int wait_ms,
                              const char *target, char *body, size_t n_bytes, char *error);

int __wrap_control_client_ask(const char *address, const struct control_token *t, int wait_ms,
                              const char *target, char *body, size_t n_bytes, char *error)
{
    assert_string_equal(address, "unix:/a");
    assert_ptr_equal(t, &token);
    assert_int_equal(wait_ms, 3000);
    assert_string_equal(target, "/metrics");
    snprintf(body, n_bytes, "%s", response != NULL ? response : "");
    if (response == NULL)
        snprintf(error, CONTROL_SOCKET_ERROR_BYTES, "no answer");
    return response != NULL ? 0 : -1;
}

/* Returns the error, or "" if there is none. */
static const char *read_response(struct server_stats *s, const char *text)
{
    static char error[CONTROL_SOCKET_ERROR_BYTES];
    int status;

    response = text;
    error[0] = '\0';
    memset(s, 0xff, sizeof *s);
    status = server_stats_read(s, "unix:/a", &token, 3000, error);
    assert_int_equal(status, error[0] == '\0' ? 0 : -1);
    assert_int_equal(s->is_known, status == 0);
    return error;
}

static void each_counter_is_read_under_its_name(void **state)
{
    struct server_stats s;

    (void)state;
    assert_string_equal(read_response(&s,
                                      "tcpserver_connections_accepted_total{worker=\"0\"} 1000\n"
                                      "tcpserver_connections_accepted_total{worker=\"1\"} 1\n"
                                      "tcpserver_connections_refused_total{worker=\"0\"} 2\n"
                                      "tcpserver_connections_closed_total{worker=\"0\"} 3\n"
                                      "tcpserver_connections_active{worker=\"0\"} 4\n"
                                      "tcpserver_received_bytes_total{worker=\"0\"} 5\n"
                                      "tcpserver_sent_bytes_total{worker=\"0\"} 6\n"
                                      "tcpserver_accept_pauses_total{worker=\"0\"} 7\n"
                                      "tcpserver_back_pressure_pauses_total{worker=\"0\"} 8\n"
                                      "tcpserver_start_time_seconds 1769903999.000000001\n"
                                      "tcpserver_listen_overflows_total 9\n"
                                      "tcpserver_listen_drops_total 10\n"),
                        "");
    assert_false(s.restarted);
    assert_int_equal(s.accepted, 1001);
    assert_int_equal(s.refused, 2);
    assert_int_equal(s.closed, 3);
    assert_int_equal(s.active, 4);
    assert_int_equal(s.bytes_received, 5);
    assert_int_equal(s.bytes_sent, 6);
    assert_int_equal(s.accept_pauses, 7);
    assert_int_equal(s.back_pressure_pauses, 8);
    assert_int_equal(s.started_epoch_ns, 1769903999000000001);
    assert_int_equal(s.listen_overflows, 9);
    assert_int_equal(s.listen_drops, 10);
}

static void what_a_server_does_not_report_is_unknown(void **state)
{
    struct server_stats s;

    (void)state;
    assert_string_equal(read_response(&s, "tcpserver_connections_accepted_total 0\n"
                                          "tcpserver_start_time_seconds NaN\n"),
                        "");
    assert_int_equal(s.accepted, 0);
    assert_true(s.listen_drops == UINT64_MAX);
    assert_true(s.started_epoch_ns == UINT64_MAX);
    assert_string_equal(read_response(&s, "tcpserver_connections_accepted_total 0\n"), "");
    assert_true(s.started_epoch_ns == UINT64_MAX);
}

static void other_programs_are_no_tcpserver(void **state)
{
    struct server_stats s;

    (void)state;
    assert_string_equal(read_response(&s, NULL), "no answer");
    assert_string_equal(read_response(&s, "tcpclient_in_flight 1\n"), "no tcpserver at 'unix:/a'");
}

static void counters_are_subtracted_and_the_gauge_is_the_later_one(void **state)
{
    const struct server_stats earlier = {.is_known = true,
                                         .started_epoch_ns = 1000,
                                         .accepted = 100,
                                         .refused = 1,
                                         .closed = 40,
                                         .active = 60,
                                         .bytes_received = 1000,
                                         .bytes_sent = 2000,
                                         .accept_pauses = 3,
                                         .back_pressure_pauses = 4,
                                         .listen_overflows = 5,
                                         .listen_drops = UINT64_MAX};
    const struct server_stats later = {.is_known = true,
                                       .started_epoch_ns = 1000,
                                       .accepted = 150,
                                       .refused = 3,
                                       .closed = 45,
                                       .active = 105,
                                       .bytes_received = 1010,
                                       .bytes_sent = 2030,
                                       .accept_pauses = 7,
                                       .back_pressure_pauses = 9,
                                       .listen_overflows = 11,
                                       .listen_drops = 12};
    const struct server_stats d = server_stats_between(&earlier, &later);

    (void)state;
    assert_true(d.is_known && !d.restarted);
    assert_int_equal(d.started_epoch_ns, 1000);
    assert_int_equal(d.accepted, 50);
    assert_int_equal(d.refused, 2);
    assert_int_equal(d.closed, 5);
    assert_int_equal(d.active, 105);
    assert_int_equal(d.bytes_received, 10);
    assert_int_equal(d.bytes_sent, 30);
    assert_int_equal(d.accept_pauses, 4);
    assert_int_equal(d.back_pressure_pauses, 5);
    assert_int_equal(d.listen_overflows, 6);
    assert_true(d.listen_drops == UINT64_MAX);
}

static void counters_of_a_restarted_server_began_again(void **state)
{
    const struct server_stats earlier = {
        .is_known = true, .started_epoch_ns = 1000, .accepted = 100, .bytes_sent = 50};
    const struct server_stats later = {
        .is_known = true, .started_epoch_ns = 1060, .accepted = 120, .bytes_sent = 40, .active = 9};
    struct server_stats d = server_stats_between(&earlier, &later);

    (void)state;
    assert_true(d.is_known && d.restarted);
    assert_int_equal(d.accepted, 120);
    assert_int_equal(d.bytes_sent, 40);
    assert_int_equal(d.active, 9);
    assert_false(server_stats_between(&earlier, &earlier).restarted);
}

static void without_a_start_time_a_counter_that_fell_tells(void **state)
{
    const struct server_stats earlier = {
        .is_known = true, .started_epoch_ns = UINT64_MAX, .accepted = 100};
    const struct server_stats later = {
        .is_known = true, .started_epoch_ns = UINT64_MAX, .accepted = 99};

    (void)state;
    assert_true(server_stats_between(&earlier, &later).restarted);
    assert_int_equal(server_stats_between(&earlier, &later).accepted, 99);
    assert_false(server_stats_between(&later, &earlier).restarted);
}

static void the_start_tells_one_server_from_another(void **state)
{
    const struct server_stats a = {.is_known = true, .started_epoch_ns = 1769903999000000001};
    const struct server_stats b = {.is_known = true, .started_epoch_ns = 1769903999000000002};
    const struct server_stats unknown = {.is_known = true, .started_epoch_ns = UINT64_MAX};

    (void)state;
    assert_true(server_stats_same_server(&a, &a));
    assert_false(server_stats_same_server(&a, &b));
    assert_false(server_stats_same_server(&unknown, &unknown));
}

static void a_sum_leaves_out_what_is_of_the_host(void **state)
{
    const struct server_stats a = {.is_known = true,
                                   .accepted = 3,
                                   .refused = UINT64_MAX,
                                   .closed = 1,
                                   .active = 2,
                                   .bytes_received = 10,
                                   .bytes_sent = 100,
                                   .accept_pauses = 5,
                                   .back_pressure_pauses = 7,
                                   .listen_overflows = 5,
                                   .listen_drops = 6};
    const struct server_stats b = {.is_known = true,
                                   .restarted = true,
                                   .accepted = 4,
                                   .refused = 1,
                                   .closed = 3,
                                   .active = 1,
                                   .bytes_received = 20,
                                   .bytes_sent = 200,
                                   .accept_pauses = 6,
                                   .back_pressure_pauses = 8,
                                   .listen_overflows = 5,
                                   .listen_drops = 6};
    const struct server_stats sum = server_stats_sum(&a, &b);

    (void)state;
    assert_true(sum.is_known && sum.restarted);
    assert_int_equal(sum.accepted, 7);
    assert_true(sum.refused == UINT64_MAX);
    assert_int_equal(sum.closed, 4);
    assert_int_equal(sum.active, 3);
    assert_int_equal(sum.bytes_received, 30);
    assert_int_equal(sum.bytes_sent, 300);
    assert_int_equal(sum.accept_pauses, 11);
    assert_int_equal(sum.back_pressure_pauses, 15);
    assert_true(sum.listen_overflows == UINT64_MAX);
    assert_true(sum.listen_drops == UINT64_MAX);
}

static void differences_and_sums_need_both_readings(void **state)
{
    const struct server_stats known = {.is_known = true}, unknown = {.is_known = false};

    (void)state;
    assert_false(server_stats_between(&known, &unknown).is_known);
    assert_false(server_stats_between(&unknown, &known).is_known);
    assert_true(server_stats_between(&known, &known).is_known);
    assert_false(server_stats_sum(&known, &unknown).is_known);
    assert_false(server_stats_sum(&unknown, &known).is_known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_counter_is_read_under_its_name),
        cmocka_unit_test(what_a_server_does_not_report_is_unknown),
        cmocka_unit_test(other_programs_are_no_tcpserver),
        cmocka_unit_test(counters_are_subtracted_and_the_gauge_is_the_later_one),
        cmocka_unit_test(counters_of_a_restarted_server_began_again),
        cmocka_unit_test(without_a_start_time_a_counter_that_fell_tells),
        cmocka_unit_test(the_start_tells_one_server_from_another),
        cmocka_unit_test(a_sum_leaves_out_what_is_of_the_host),
        cmocka_unit_test(differences_and_sums_need_both_readings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
