/* SPDX-License-Identifier: MIT
 * test_steer: targets that change during a run, as the main thread sees them.  Times are compared
 * with the time at which a change takes effect, never with the clock. */
#include "client/steer.h"

#include "base/clock.h"
#include "workers_steps.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define S 1000000000ull

/* A machine that has just booted has no minutes to look back upon: its clock is a day ahead. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    const int failed = (int)syscall(SYS_clock_gettime, clock, time);

    if (clock == CLOCK_MONOTONIC)
        time->tv_sec += 86400;
    return failed;
}

static struct client_config config;
static struct client_workers no_workers;
static struct client_steer steer;

/* 100 q/s for an hour, begun a minute ago, after a warm-up of 10 s. */
static int setup(void **state)
{
    const uint64_t begin_ns = clock_now_ns() - 60 * S;

    (void)state;
    config = (struct client_config){
        .n_connections = 20, .n_at_begin = 10, .warmup_ns = 10 * S, .queries_per_conn = 3};
    schedule_constant(&config.schedule, 3600 * S, 100);
    client_steer_init(&steer, &config, &no_workers);
    client_steer_begin(&steer, begin_ns, begin_ns + 3600 * S);
    return 0;
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6 * fabs(expected) + 1e-9)) /* NaN, too */
        fail_msg("%.9g is not %.9g", value, expected);
}

static void without_changes_the_targets_are_the_configuration(void **state)
{
    (void)state;
    assert_false(steer.changed);
    assert_near(client_steer_rate_qps(&steer, steer.begin_ns), 100);
    assert_near(client_steer_rate_qps(&steer, steer.begin_ns - 1), 0);
    assert_near(client_steer_rate_qps(&steer, steer.begin_ns + 3600 * S), 0);
    assert_near(client_steer_mean_qps(&steer, steer.begin_ns + 60 * S), 100);
    assert_near(client_steer_mean_qps(&steer, steer.begin_ns + 5 * S), 0); /* warm-up */
    assert_int_equal(steer.targets.n_connections, 10);
    assert_int_equal(steer.targets.queries_per_conn, 3);
    assert_int_equal(steer.targets.end_ns, steer.begin_ns + 3600 * S);
    client_steer_init(&steer, &config, &no_workers);
    assert_true(steer.targets.end_ns == PACER_NEVER); /* before the load */
}

static void a_new_rate_takes_effect_later_and_keeps_the_past(void **state)
{
    uint64_t at_ns;

    (void)state;
    assert_int_equal(client_steer_rate(&steer, 300, &at_ns), 0);
    assert_true(steer.changed);
    assert_int_equal(steer.targets.version, 1);
    assert_near(client_steer_rate_qps(&steer, at_ns - 1), 100);
    assert_near(client_steer_rate_qps(&steer, at_ns), 300);
    assert_near(
        client_steer_n_due(&steer, at_ns + S / 2) - client_steer_n_due(&steer, at_ns - S / 2), 200);
    assert_int_equal(schedule_duration_ns(&steer.targets.schedule), 3600 * S);
    assert_near(client_steer_mean_qps(&steer, at_ns), 100);
}

static void many_changes_in_the_past_do_not_fill_the_schedule(void **state)
{
    uint64_t at_ns;

    (void)state;
    for (unsigned i = 0; i < SCHEDULE_MOST + 100; i++) {
        assert_int_equal(client_steer_rate(&steer, 100 + i, &at_ns), 0);
        steer.begin_ns -= 2 * S; /* as if two seconds had passed */
    }
    assert_in_range(steer.targets.schedule.n, 2, 10);
}

/* Nor do those of a long warm-up, whose mean is not that of the measurement. */
static void many_changes_in_the_warm_up_do_not_fill_the_schedule(void **state)
{
    uint64_t at_ns;

    (void)state;
    config.warmup_ns = 3000 * S;
    for (unsigned i = 0; i < SCHEDULE_MOST + 100; i++) {
        assert_int_equal(client_steer_rate(&steer, 100 + i, &at_ns), 0);
        steer.begin_ns -= 2 * S; /* as if two seconds had passed */
    }
    assert_in_range(steer.targets.schedule.n, 2, 10);
}

static void a_pause_is_silent_and_counted_and_keeps_the_rate_requested_meanwhile(void **state)
{
    uint64_t paused_ns, changed_ns, resumed_ns;

    (void)state;
    assert_int_equal(client_steer_pause(&steer, true, &paused_ns), 0);
    assert_near(client_steer_rate_qps(&steer, paused_ns - 1), 100);
    assert_near(client_steer_rate_qps(&steer, paused_ns), 0);
    assert_int_equal(client_steer_paused_ns(&steer, paused_ns + 5 * S), 5 * S);
    assert_int_equal(client_steer_pause(&steer, true, &changed_ns), 0); /* nothing changes */
    assert_int_equal(steer.targets.version, 1);
    assert_int_equal(client_steer_rate(&steer, 500, &changed_ns), 0);
    assert_near(client_steer_rate_qps(&steer, changed_ns), 0);
    assert_int_equal(client_steer_pause(&steer, false, &resumed_ns), 0);
    assert_near(client_steer_rate_qps(&steer, resumed_ns), 500);
    assert_int_equal(client_steer_paused_ns(&steer, resumed_ns + 5 * S), resumed_ns - paused_ns);
}

/* Paused within the warm-up, and again when its start has become part of the measurement. */
static void only_the_measured_part_of_a_pause_is_counted(void **state)
{
    uint64_t paused_ns, resumed_ns, again_ns, measure_ns;

    (void)state;
    config.warmup_ns = 1000 * S;
    measure_ns = steer.begin_ns + 1000 * S;
    assert_int_equal(client_steer_pause(&steer, true, &paused_ns), 0);
    assert_true(paused_ns < measure_ns);
    assert_int_equal(client_steer_paused_ns(&steer, measure_ns), 0);
    assert_int_equal(client_steer_paused_ns(&steer, measure_ns + 3 * S), 3 * S);
    assert_int_equal(client_steer_pause(&steer, false, &resumed_ns), 0);
    assert_int_equal(client_steer_paused_ns(&steer, measure_ns + 3 * S), 0);
    steer.begin_ns -= 2000 * S;
    assert_int_equal(client_steer_pause(&steer, true, &again_ns), 0);
    assert_int_equal(client_steer_paused_ns(&steer, again_ns + 4 * S),
                     resumed_ns - paused_ns + 4 * S);
}

static void pause_that_ends_later_is_counted_so_far(void **state)
{
    uint64_t paused_ns, resumed_ns;

    (void)state;
    assert_int_equal(client_steer_pause(&steer, true, &paused_ns), 0);
    assert_int_equal(client_steer_pause(&steer, false, &resumed_ns), 0);
    assert_int_equal(client_steer_paused_ns(&steer, paused_ns), 0);
}

/* 50 s at 200 q/s, then 50 s at 400 q/s. */
static void requested_rate_is_that_of_the_part_that_ran(void **state)
{
    (void)state;
    config.duration_ns = 100 * S;
    config.schedule =
        (struct schedule){3, {{10 * S, 200, 200}, {50 * S, 200, 200}, {PACER_NEVER, 400, 400}}};
    client_steer_init(&steer, &config, &no_workers);
    client_steer_begin(&steer, clock_now_ns(), PACER_NEVER);
    assert_true(client_steer_requested_qps(&steer, 300, 100 * S) == 300);
    assert_true(client_steer_requested_qps(&steer, 300, 10 * S) == 200);
    assert_near(client_steer_requested_qps(&steer, 300, 75 * S), (50 * 200 + 25 * 400) / 75.0);
    assert_true(client_steer_requested_qps(&steer, 300, 0) == 300);
    config.loop = CLIENT_LOOP_CLOSED;
    assert_true(client_steer_requested_qps(&steer, 300, 10 * S) == 300);
}

static void the_end_only_moves_closer(void **state)
{
    uint64_t at_ns;

    (void)state;
    at_ns = client_steer_end(&steer);
    assert_true(at_ns < steer.begin_ns + 3600 * S);
    assert_int_equal(steer.targets.end_ns, at_ns);
    assert_int_equal(client_steer_end(&steer), at_ns);
    assert_near(client_steer_rate_qps(&steer, at_ns - 1), 100);
    assert_near(client_steer_rate_qps(&steer, at_ns), 0);
    assert_int_equal(steer.targets.version, 1);
    assert_near(client_steer_n_due(&steer, at_ns + S) - client_steer_n_due(&steer, at_ns - S), 100);
}

static void a_change_before_the_load_takes_effect_at_its_start(void **state)
{
    const uint64_t begin_ns = clock_now_ns() + 3600 * S;
    uint64_t at_ns;

    (void)state;
    client_steer_begin(&steer, begin_ns, begin_ns + 3600 * S);
    assert_int_equal(client_steer_rate(&steer, 300, &at_ns), 0);
    assert_int_equal(at_ns, begin_ns);
    assert_near(client_steer_rate_qps(&steer, begin_ns), 300);
}

/* A worker that never applies anything. */
static void targets_wait_for_the_previous_change(void **state)
{
    static _Alignas(CLIENT_WORKER_ALIGNMENT) struct client_worker worker;
    struct client_workers one = {.all = &worker, .n = 1};

    (void)state;
    assert_int_equal(client_steer_connections(&steer, 15), 0);
    assert_int_equal(steer.targets.n_connections, 15);
    steer.workers = &one;
    assert_int_equal(client_steer_connections(&steer, 20), -1);
    assert_int_equal(steer.targets.n_connections, 15);
    assert_int_equal(client_steer_queries_per_conn(&steer, 4), -1);
    assert_int_equal(client_steer_size(&steer, 3), -1);
    assert_int_equal(steer.targets.queries_per_conn, 3);
    assert_int_equal(steer.targets.size, 0);
}

/* As workers do with CLIENT_STEER. */
static void follow(void)
{
    assert_true(take_posted(CLIENT_STEER));
    for (int i = 0; i < N_WORKERS; i++)
        atomic_store(&all[i].targets.reached, steer.targets.version);
}

static void workers_are_told_of_each_change(void **state)
{
    static uint32_t shares[2 * N_WORKERS];
    uint64_t at_ns;

    assert_int_equal(start_workers(), 0);
    setup(state);
    workers.shares = shares;
    steer.workers = &workers;
    for (int i = 0; i < N_WORKERS; i++)
        tally_add(&all[i].figures.n_live, 5);
    assert_int_equal(client_steer_connections(&steer, 15), 0);
    assert_int_equal(steer.targets.n_connections, 15);
    assert_int_equal(all[0].targets.n_connections + all[1].targets.n_connections, 15);
    assert_int_equal(client_steer_size(&steer, 2), -1); /* not yet */
    follow();
    assert_int_equal(client_steer_queries_per_conn(&steer, 7), 0);
    assert_int_equal(steer.targets.queries_per_conn, 7);
    follow();
    assert_int_equal(client_steer_size(&steer, 2), 0);
    assert_int_equal(steer.targets.size, 2);
    follow();
    assert_int_equal(client_steer_rate(&steer, 50, &at_ns), 0);
    follow();
    client_steer_end(&steer);
    follow();
    stop_workers();
}

static void a_trial_is_measured_after_its_transition_and_ends_in_silence(void **state)
{
    uint64_t at_ns, next_ns;

    (void)state;
    assert_int_equal(steer.targets.measure_ns, steer.begin_ns + 10 * S);
    assert_int_equal(client_steer_trial(&steer, 500, S / 2, 2 * S, &at_ns), 0);
    assert_int_equal(steer.targets.measure_ns, at_ns + S / 2);
    assert_near(client_steer_rate_qps(&steer, at_ns - 1), 100);
    assert_near(client_steer_rate_qps(&steer, at_ns), 500);
    assert_near(client_steer_rate_qps(&steer, at_ns + S / 2 + 2 * S - 1), 500);
    assert_near(client_steer_rate_qps(&steer, at_ns + S / 2 + 2 * S), 0);
    assert_near(client_steer_rate_qps(&steer, at_ns + 3000 * S), 0);
    steer.begin_ns -= 5 * S; /* as if so much time had passed */
    assert_int_equal(client_steer_trial(&steer, 700, 0, PACER_NEVER, &next_ns), 0);
    assert_near(client_steer_rate_qps(&steer, next_ns - 1), 0);
    assert_near(client_steer_rate_qps(&steer, next_ns + 3000 * S), 700);
    assert_int_equal(steer.targets.measure_ns, next_ns);
}

static void a_trial_that_ends_is_measured_until_then(void **state)
{
    uint64_t at_ns, end_ns;

    (void)state;
    assert_int_equal(client_steer_trial(&steer, 500, S / 2, 20 * S, &at_ns), 0);
    steer.begin_ns -= 5 * S; /* as if so much time had passed */
    steer.targets.measure_ns -= 5 * S;
    assert_int_equal(client_steer_trial_end(&steer, &end_ns), 0);
    assert_near(client_steer_rate_qps(&steer, end_ns - 1), 500);
    assert_near(client_steer_rate_qps(&steer, end_ns), 0);
    assert_near(client_steer_rate_qps(&steer, end_ns + 3000 * S), 0);
    assert_int_equal(steer.targets.measure_ns, at_ns + S / 2 - 5 * S);
}

/* As if so much time had passed. */
static void pass(uint64_t ns)
{
    steer.begin_ns -= ns;
    steer.changed_ns -= ns;
    steer.targets.measure_ns -= ns;
    steer.targets.end_ns -= ns;
}

/* The first trial ends by itself, the second is ended, the third discards all of its queries. */
static void trials_request_what_they_measure(void **state)
{
    const uint64_t measured_ns = 60 * S - config.warmup_ns;
    double n = 100 * (double)measured_ns / S, n_due = 100 * 60;
    uint64_t at_ns, first_ns;

    (void)state;
    assert_int_equal(client_steer_trial(&steer, 500, S, 2 * S, &at_ns), 0);
    first_ns = at_ns - steer.begin_ns;
    n += 100 * (double)(first_ns - 60 * S) / S;
    n_due += 100 * (double)(first_ns - 60 * S) / S;
    pass(10 * S);
    assert_int_equal(client_steer_trial(&steer, 700, 2 * S, 20 * S, &at_ns), 0);
    n += 500 * 2;
    n_due += 500 * 3;
    assert_near(client_steer_n_due(&steer, at_ns), n_due);
    assert_near(client_steer_mean_qps(&steer, at_ns),
                n * S / (double)(at_ns - steer.begin_ns - config.warmup_ns));
    assert_near(client_steer_mean_qps(&steer, at_ns + S),
                n * S / (double)(at_ns + S - steer.begin_ns - config.warmup_ns));
    pass(5 * S);
    at_ns -= 5 * S;
    n -= 700 * (double)(at_ns + 2 * S) / S;
    n_due -= 700 * (double)at_ns / S;
    assert_int_equal(client_steer_trial_end(&steer, &at_ns), 0);
    n += 700 * (double)at_ns / S;
    n_due += 700 * (double)at_ns / S;
    pass(5 * S);
    assert_int_equal(client_steer_trial(&steer, 900, 3600 * S, PACER_NEVER, &at_ns), 0);
    assert_near(client_steer_n_due(&steer, at_ns + 3 * S), n_due + 900 * 3);
    assert_near(client_steer_mean_qps(&steer, at_ns + 3 * S),
                n * S / (double)(at_ns + 3 * S - steer.begin_ns - config.warmup_ns));
}

static void a_trial_may_start_with_the_load(void **state)
{
    const uint64_t begin_ns = clock_now_ns() + 60 * S;
    uint64_t at_ns;

    (void)state;
    client_steer_begin(&steer, begin_ns, PACER_NEVER);
    assert_int_equal(client_steer_trial(&steer, 500, S, S, &at_ns), 0);
    assert_int_equal(at_ns, begin_ns);
    config.warmup_ns = 0;
    for (uint64_t ns = 1; ns <= S; ns += S / 7) /* whatever rounding leaves */
        assert_true(client_steer_mean_qps(&steer, begin_ns + ns) == 0);
    assert_near(client_steer_rate_qps(&steer, begin_ns), 500);
    assert_near(client_steer_rate_qps(&steer, begin_ns + 2 * S), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_changes_the_targets_are_the_configuration, setup),
        cmocka_unit_test_setup(a_new_rate_takes_effect_later_and_keeps_the_past, setup),
        cmocka_unit_test_setup(many_changes_in_the_past_do_not_fill_the_schedule, setup),
        cmocka_unit_test_setup(many_changes_in_the_warm_up_do_not_fill_the_schedule, setup),
        cmocka_unit_test_setup(a_pause_is_silent_and_counted_and_keeps_the_rate_requested_meanwhile,
                               setup),
        cmocka_unit_test_setup(only_the_measured_part_of_a_pause_is_counted, setup),
        cmocka_unit_test_setup(pause_that_ends_later_is_counted_so_far, setup),
        cmocka_unit_test_setup(requested_rate_is_that_of_the_part_that_ran, setup),
        cmocka_unit_test_setup(the_end_only_moves_closer, setup),
        cmocka_unit_test_setup(a_change_before_the_load_takes_effect_at_its_start, setup),
        cmocka_unit_test_setup(targets_wait_for_the_previous_change, setup),
        cmocka_unit_test(workers_are_told_of_each_change),
        cmocka_unit_test_setup(a_trial_is_measured_after_its_transition_and_ends_in_silence, setup),
        cmocka_unit_test_setup(a_trial_that_ends_is_measured_until_then, setup),
        cmocka_unit_test_setup(trials_request_what_they_measure, setup),
        cmocka_unit_test_setup(a_trial_may_start_with_the_load, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
