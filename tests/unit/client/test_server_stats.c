/* SPDX-License-Identifier: MIT
 * test_server_stats: the difference between two readings. */
#include "client/server_stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void counters_are_subtracted_and_the_gauge_is_the_later_one(void **state)
{
    const struct server_stats earlier = {.is_known = true,
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
    assert_true(d.is_known);
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
                                   .active = 2,
                                   .bytes_received = 10,
                                   .listen_overflows = 5};
    const struct server_stats b = {.is_known = true,
                                   .restarted = true,
                                   .accepted = 4,
                                   .refused = 1,
                                   .active = 1,
                                   .bytes_received = 20,
                                   .listen_overflows = 5};
    const struct server_stats sum = server_stats_sum(&a, &b);

    (void)state;
    assert_true(sum.is_known && sum.restarted);
    assert_int_equal(sum.accepted, 7);
    assert_int_equal(sum.active, 3);
    assert_int_equal(sum.bytes_received, 30);
    assert_true(sum.refused == UINT64_MAX);
    assert_true(sum.listen_overflows == UINT64_MAX);
}

static void a_difference_needs_both_readings(void **state)
{
    const struct server_stats known = {.is_known = true}, unknown = {.is_known = false};

    (void)state;
    assert_false(server_stats_between(&known, &unknown).is_known);
    assert_false(server_stats_between(&unknown, &known).is_known);
    assert_true(server_stats_between(&known, &known).is_known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_subtracted_and_the_gauge_is_the_later_one),
        cmocka_unit_test(counters_of_a_restarted_server_began_again),
        cmocka_unit_test(without_a_start_time_a_counter_that_fell_tells),
        cmocka_unit_test(the_start_tells_one_server_from_another),
        cmocka_unit_test(a_sum_leaves_out_what_is_of_the_host),
        cmocka_unit_test(a_difference_needs_both_readings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
