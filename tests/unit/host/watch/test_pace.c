/* SPDX-License-Identifier: MIT
 * test_pace: readings of any cost take the same part of the time. */
#include "host/watch/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The readings in 1,000 s of a series that offers one per second. */
static unsigned readings(uint64_t cost_ns, unsigned rest)
{
    struct watch_pace pace = {0};
    unsigned n = 0;

    for (uint64_t now_ns = 0; now_ns < 1000000000000; now_ns += 1000000000)
        if (watch_pace_is_due(&pace, now_ns)) {
            n++;
            watch_pace_took(&pace, now_ns + cost_ns, cost_ns, rest);
        }
    return n;
}

static void a_reading_takes_at_most_its_part_of_the_time(void **state)
{
    (void)state;
    assert_int_equal(readings(0, WATCH_PACE_REST), 1000);
    assert_int_equal(readings(10000000, WATCH_PACE_REST), 1000);
    assert_int_equal(readings(10000001, WATCH_PACE_REST), 500);
    assert_int_equal(readings(100000000, WATCH_PACE_REST), 100);
    assert_int_equal(readings(3000000000, WATCH_PACE_REST), 4);
    assert_int_equal(readings(10000000, WATCH_PACE_LONG_REST), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reading_takes_at_most_its_part_of_the_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
