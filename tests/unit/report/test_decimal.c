/* SPDX-License-Identifier: MIT
 * test_decimal: valid numbers, exact to the last digit, and invalid ones. */
#include "report/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_is(const char *text, uint64_t scale, uint64_t wanted, const char *rest)
{
    uint64_t value = 0;
    const char *end = decimal_take(text, scale, &value);

    assert_non_null(end);
    assert_string_equal(end, rest);
    assert_int_equal(value, wanted);
}

static void digits_and_decimals_are_exact(void **state)
{
    (void)state;
    assert_is("0", 1, 0, "");
    assert_is("17,x", 1, 17, ",x");
    assert_is("1769903999.123456789,", 1000000000, 1769903999123456789, ",");
    assert_is("0.1", 1000, 100, "");
    assert_is("5.", 1000, 5000, "");
    assert_is("18446744073709551615", 1, UINT64_MAX, "");
    assert_is("1.9999", 1000, 1999, ""); /* truncated, not rounded */
    assert_is("1.9", 1, 1, "");
}

static void invalid_numbers_are_refused(void **state)
{
    static const char *const texts[] = {"", "-1", "+1", ".5", " 1", "x", ","};
    uint64_t value;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(decimal_take(texts[i], 1000, &value));
}

static void what_has_no_room_is_refused(void **state)
{
    uint64_t value;

    (void)state;
    assert_null(decimal_take("18446744073709551616", 1, &value));
    assert_null(decimal_take("18446744073709551615", 10, &value));
    assert_null(decimal_take("18446744073.709551616", 1000000000, &value));
    assert_non_null(decimal_take("18446744073.709551615", 1000000000, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_and_decimals_are_exact),
        cmocka_unit_test(invalid_numbers_are_refused),
        cmocka_unit_test(what_has_no_room_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
