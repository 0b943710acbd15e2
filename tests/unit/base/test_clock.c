/* SPDX-License-Identifier: MIT
 * test_clock: conversions, and the relation of the two clocks. */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void dates_are_rfc_3339_in_utc(void **state)
{
    char text[CLOCK_RFC3339_BYTES];

    (void)state;
    assert_string_equal(clock_rfc3339(text, 0), "1970-01-01T00:00:00.000Z");
    assert_string_equal(clock_rfc3339(text, 1769903999123456789), "2026-01-31T23:59:59.123Z");
    assert_string_equal(clock_rfc3339(text, 1709164800999999999), "2024-02-29T00:00:00.999Z");
}

static void durations_convert_exactly(void **state)
{
    struct timeval tv = clock_timeval(1234567890);
    struct timespec ts = clock_timespec(1234567890);

    (void)state;
    assert_int_equal(tv.tv_sec, 1);
    assert_int_equal(tv.tv_usec, 234567);
    assert_int_equal(ts.tv_sec, 1);
    assert_int_equal(ts.tv_nsec, 234567890);
}

static void monotonic_clock_does_not_go_back(void **state)
{
    uint64_t before = clock_now_ns();

    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint64_t now = clock_now_ns();

        assert_true(now >= before);
        before = now;
    }
}

/* Reads both clocks before and after the offset: the date that it gives lies in between. */
static void offset_dates_monotonic_stamps(void **state)
{
    struct timespec before, after;
    uint64_t offset_ns, date_ns;

    (void)state;
    clock_gettime(CLOCK_REALTIME, &before);
    offset_ns = clock_realtime_offset_ns();
    date_ns = clock_now_ns() + offset_ns;
    clock_gettime(CLOCK_REALTIME, &after);
    assert_true(date_ns + 1000000 >=
                (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec);
    assert_true(date_ns <= (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec + 1000000);
}

static void clock_has_one_identity(void **state)
{
    (void)state;
    assert_int_not_equal(clock_identity(), 0);
    assert_int_equal(clock_identity(), clock_identity());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_are_rfc_3339_in_utc),
        cmocka_unit_test(durations_convert_exactly),
        cmocka_unit_test(monotonic_clock_does_not_go_back),
        cmocka_unit_test(offset_dates_monotonic_stamps),
        cmocka_unit_test(clock_has_one_identity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
