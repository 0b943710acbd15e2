/* SPDX-License-Identifier: MIT
 * test_wakeup: the learned lateness, its bounds, and the cost of busy-waiting. */
#include "workload/wakeup.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define START 1000000000000ull
#define S     1000000000ull
#define US    1000ull

/* Wakes up n times, each late by a uniform time from least to most.  Returns how many of the last
 * half were later than the estimate. */
static unsigned wake(struct wakeup *w, unsigned n, uint64_t least_ns, uint64_t most_ns)
{
    unsigned n_later = 0;
    struct rng rng;

    rng_seed(&rng, 3, 0);
    for (unsigned i = 0; i < n; i++) {
        const uint64_t late_ns =
            least_ns + (uint64_t)(rng_uniform(&rng) * (double)(most_ns - least_ns));

        if (i >= n / 2 && late_ns > wakeup_ahead_ns(w, START))
            n_later++;
        wakeup_woke(w, START, START + late_ns);
    }
    return n_later;
}

static void eight_percent_of_the_wakeups_are_later_than_the_estimate(void **state)
{
    struct wakeup w;

    (void)state;
    wakeup_init(&w, 1, START);
    assert_in_range(wake(&w, 20000, 60 * US, 120 * US), 700, 900);
    assert_in_range(wakeup_ahead_ns(&w, START), 105 * US, 125 * US);
}

static void another_lateness_is_learned_anew(void **state)
{
    struct wakeup w;

    (void)state;
    wakeup_init(&w, 1, START);
    wake(&w, 400, 30 * US, 40 * US);
    assert_in_range(wakeup_ahead_ns(&w, START), 34 * US, 48 * US);
    wake(&w, 60, 200 * US, 210 * US);
    assert_in_range(wakeup_ahead_ns(&w, START), 195 * US, 220 * US);
}

static void the_estimate_stays_within_its_bounds(void **state)
{
    struct wakeup w;

    (void)state;
    wakeup_init(&w, 1, START);
    assert_int_equal(wakeup_ahead_ns(&w, START), WAKEUP_FIRST_NS);
    wake(&w, 1000, 10 * 1000 * US, 20 * 1000 * US);
    assert_int_equal(wakeup_ahead_ns(&w, START), WAKEUP_MOST_NS);
    for (int i = 0; i < 1000; i++)
        wakeup_woke(&w, START, START - 5 * US); /* the clock was read before the timer fired */
    assert_int_equal(wakeup_ahead_ns(&w, START), WAKEUP_LEAST_NS);
}

/* A query every 100 us for two seconds, each after 20 us of busy-waiting: a fifth of the time,
 * without a limit. */
static uint64_t time_spent_waiting(double share)
{
    uint64_t spent_ns = 0;
    struct wakeup w;

    wakeup_init(&w, share, START);
    for (uint64_t now_ns = START; now_ns < START + 2 * S; now_ns += 100 * US)
        if (wakeup_ahead_ns(&w, now_ns) > 0) {
            wakeup_waited(&w, 20 * US);
            spent_ns += 20 * US;
        }
    return spent_ns;
}

static void waiting_costs_no_more_than_its_share(void **state)
{
    (void)state;
    assert_int_equal(time_spent_waiting(1), 2 * S / 5);
    assert_in_range(time_spent_waiting(0.05), S * 99 / 1000, S / 10);
    assert_in_range(time_spent_waiting(0.02), S * 39 / 1000, S * 4 / 100);
    assert_int_equal(time_spent_waiting(0), 0);
}

static void what_was_saved_in_a_silence_is_bounded(void **state)
{
    struct wakeup w;
    int n = 0;

    (void)state;
    wakeup_init(&w, 0.05, START);
    for (; wakeup_ahead_ns(&w, START + 1000 * S) > 0; n++)
        wakeup_waited(&w, 100 * US);
    assert_in_range(n, 97, 100); /* of WAKEUP_SAVED_NS, less the last estimate */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_percent_of_the_wakeups_are_later_than_the_estimate),
        cmocka_unit_test(another_lateness_is_learned_anew),
        cmocka_unit_test(the_estimate_stays_within_its_bounds),
        cmocka_unit_test(waiting_costs_no_more_than_its_share),
        cmocka_unit_test(what_was_saved_in_a_silence_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
