/* SPDX-License-Identifier: MIT
 * test_verdict: each limit from both sides. */
#include "verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define US 1000ull
#define MS 1000000ull

/* A run that nothing is wrong with. */
static const struct verdict_input good = {
    .connections_wanted = 100,
    .connections_live = 100,
    .scheduled = 10000,
    .sent = 10000,
    .sent_on_schedule = 1,
    .has_latency = true,
    .send_lag_p50_ns = 30 * US,
    .send_lag_p99_ns = 200 * US,
    .service_p50_ns = 80 * US,
    .response_p99_ns = 900 * US,
    .has_growth = true,
    .in_flight_early = 100,
    .in_flight_late = 110,
    .has_steal = true,
    .steal_percent = 0.1,
    .target_is_loopback = true,
};

#define GENERATOR (1u << VERDICT_GENERATOR_LIMITED)
#define GROWTH    (1u << VERDICT_NON_STATIONARY)
#define OUTPUT    (1u << VERDICT_OUTPUT_LOST)
#define NOISE     (1u << VERDICT_HOST_NOISE)
#define SHORT     (1u << VERDICT_CONNECTIONS_SHORT)
#define UNSENT    (1u << VERDICT_UNSENT)

static void good_run_is_valid(void **state)
{
    (void)state;
    assert_int_equal(verdict_judge(&good), 0);
}

static void schedule_has_to_be_kept_to_a_thousandth(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.sent_on_schedule = 0.9991;
    assert_int_equal(verdict_judge(&in), 0);
    in.sent_on_schedule = 0.9989;
    assert_int_equal(verdict_judge(&in), GENERATOR);
    in.scheduled = in.sent = 0; /* nothing to keep */
    assert_int_equal(verdict_judge(&in), 0);
}

static void send_lag_is_judged_against_the_latency_it_blurs(void **state)
{
    static const struct {
        uint64_t lag_p50, service_p50, lag_p99, response_p99;
        unsigned doubts;
    } cases[] = {
        {100 * US, 80 * US, 200 * US, 900 * US, 0},
        {101 * US, 80 * US, 200 * US, 900 * US, GENERATOR},
        {101 * US, 1010 * US, 200 * US, 2000 * US, 0}, /* 10 % of the service time */
        {102 * US, 1010 * US, 200 * US, 2000 * US, GENERATOR},
        {30 * US, 80 * US, 1000 * US, 900 * US, 0},
        {30 * US, 80 * US, 1001 * US, 900 * US, GENERATOR},
        {30 * US, 80 * US, 2 * MS, 20 * MS, 0},
        {30 * US, 80 * US, 2 * MS, 19 * MS, GENERATOR},
        {30 * US, 80 * US, 2 * MS, UINT64_MAX, 0}, /* beyond: nothing is blurred */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct verdict_input in = good;

        in.send_lag_p50_ns = cases[i].lag_p50;
        in.service_p50_ns = cases[i].service_p50;
        in.send_lag_p99_ns = cases[i].lag_p99;
        in.response_p99_ns = cases[i].response_p99;
        assert_int_equal(verdict_judge(&in), cases[i].doubts);
        in.has_latency = false;
        assert_int_equal(verdict_judge(&in), 0);
    }
}

static void growing_queue_is_not_stationary(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.in_flight_early = 1000;
    in.in_flight_late = 1550;
    assert_int_equal(verdict_judge(&in), 0);
    in.in_flight_late = 1551;
    assert_int_equal(verdict_judge(&in), GROWTH);
    in.has_growth = false;
    assert_int_equal(verdict_judge(&in), 0);
    in = good;
    in.in_flight_early = 0; /* small numbers jump about */
    in.in_flight_late = 50;
    assert_int_equal(verdict_judge(&in), 0);
}

static void lost_rows_and_failed_output_are_doubts(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.rows_dropped = 1;
    assert_int_equal(verdict_judge(&in), OUTPUT);
    in.rows_dropped = 0;
    in.output_failed = true;
    assert_int_equal(verdict_judge(&in), OUTPUT);
}

static void host_noise_is_steal_or_lost_segments_on_loopback(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.steal_percent = 0.5;
    assert_int_equal(verdict_judge(&in), 0);
    in.steal_percent = 0.51;
    assert_int_equal(verdict_judge(&in), NOISE);
    in.has_steal = false;
    assert_int_equal(verdict_judge(&in), 0);
    in.lost_segments = 1;
    assert_int_equal(verdict_judge(&in), NOISE);
    in.target_is_loopback = false;
    assert_int_equal(verdict_judge(&in), 0);
}

static void memory_pressure_is_a_doubt(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.tcp_memory_pressures = 1;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_MEMORY_PRESSURE);
}

static void missing_connections_and_unsent_queries_are_doubts(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.connections_live = 99;
    assert_int_equal(verdict_judge(&in), SHORT);
    in.unsent = 1;
    assert_int_equal(verdict_judge(&in), SHORT | UNSENT);
    in = good;
    in.out_of_ports = 1;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_CHURN_PLATEAU);
}

static void messages_that_are_missing_and_clocks_that_disagree_are_doubts(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.messages_missing = 1;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_PUSH_LOST);
    in = good;
    in.negative_latencies = 1;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_CLOCKS_DISAGREE);
}

static void start_that_was_missed_is_a_doubt(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.start_was_missed = true;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_START_MISSED);
}

static void queries_cut_off_by_the_end_are_a_doubt(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.cancelled = 1;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_CUT_SHORT);
}

static void run_that_measured_nothing_is_in_doubt_once(void **state)
{
    struct verdict_input in = good;

    (void)state;
    in.measured_nothing = true;
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_NOTHING_MEASURED);
    in.start_was_missed = true; /* which is why */
    assert_int_equal(verdict_judge(&in), 1u << VERDICT_START_MISSED);
}

static void every_doubt_has_a_name_and_a_meaning(void **state)
{
    (void)state;
    for (int a = 0; a < VERDICT_N_REASONS; a++) {
        assert_true(strlen(verdict_meaning((enum verdict_reason)a)) > 20);
        for (int b = 0; b < a; b++)
            assert_string_not_equal(verdict_name((enum verdict_reason)a),
                                    verdict_name((enum verdict_reason)b));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_run_is_valid),
        cmocka_unit_test(schedule_has_to_be_kept_to_a_thousandth),
        cmocka_unit_test(send_lag_is_judged_against_the_latency_it_blurs),
        cmocka_unit_test(growing_queue_is_not_stationary),
        cmocka_unit_test(lost_rows_and_failed_output_are_doubts),
        cmocka_unit_test(host_noise_is_steal_or_lost_segments_on_loopback),
        cmocka_unit_test(memory_pressure_is_a_doubt),
        cmocka_unit_test(missing_connections_and_unsent_queries_are_doubts),
        cmocka_unit_test(messages_that_are_missing_and_clocks_that_disagree_are_doubts),
        cmocka_unit_test(start_that_was_missed_is_a_doubt),
        cmocka_unit_test(queries_cut_off_by_the_end_are_a_doubt),
        cmocka_unit_test(run_that_measured_nothing_is_in_doubt_once),
        cmocka_unit_test(every_doubt_has_a_name_and_a_meaning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
