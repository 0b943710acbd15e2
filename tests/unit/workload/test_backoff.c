/* SPDX-License-Identifier: MIT
 * test_backoff: parsing, and how waits grow. */
#include "workload/backoff.h"

#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void a_wait_is_two_times(void **state)
{
    static const char *const bad[] = {
        "",         "1s",    "-",    "1s-",
        "-1s",      "2s-1s", "0-1s", "1s-25h",
        "1s-2s-3s", "x-1s",  "1s-x", "00000000000000000000000000000000000000001s-2s"};
    char error[BACKOFF_ERROR_BYTES];
    struct backoff b;

    (void)state;
    assert_int_equal(backoff_parse(&b, "250ms-24h", error), 0);
    assert_int_equal(b.first_ns, 250 * UNITS_NS_PER_MS);
    assert_int_equal(b.most_ns, 24ull * 3600 * UNITS_NS_PER_S);
    assert_int_equal(backoff_parse(&b, "1s-1s", error), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(backoff_parse(&b, bad[i], error), -1);
        assert_non_null(strstr(error, "100ms-10s"));
    }
}

/* In many draws, the smallest and the largest are near the limits, and the mean is near the middle:
 * within 6 standard errors. */
static void assert_waits(uint32_t n_failures, uint64_t whole_ns)
{
    enum { N = 10000 };
    const struct backoff b = {.first_ns = 100, .most_ns = 1500};
    uint64_t least = UINT64_MAX, most = 0;
    double sum = 0;
    struct rng rng;

    rng_seed(&rng, 7, n_failures);
    for (int i = 0; i < N; i++) {
        const uint64_t wait_ns = backoff_wait_ns(&b, n_failures, &rng);

        least = wait_ns < least ? wait_ns : least;
        most = wait_ns > most ? wait_ns : most;
        sum += (double)wait_ns;
    }
    assert_in_range(least, whole_ns / 2, whole_ns / 2 + whole_ns / 50);
    assert_in_range(most, whole_ns - whole_ns / 50, whole_ns);
    assert_in_range((uint64_t)(sum / N), whole_ns * 74 / 100, whole_ns * 76 / 100);
}

static void waits_double_up_to_the_most_and_spread_over_their_upper_half(void **state)
{
    (void)state;
    assert_waits(1, 100);
    assert_waits(2, 200);
    assert_waits(4, 800);
    assert_waits(5, 1500);
    assert_waits(UINT32_MAX, 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_is_two_times),
        cmocka_unit_test(waits_double_up_to_the_most_and_spread_over_their_upper_half),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
