/* SPDX-License-Identifier: MIT
 * test_units: conversions from text to numbers and back. */
#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define UNTOUCHED 12345u

struct good {
    const char *text;
    uint64_t value;
};

static void check_good(int (*parse)(const char *, uint64_t *), const struct good *good, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t value = UNTOUCHED;

        if (parse(good[i].text, &value) != 0 || value != good[i].value)
            fail_msg("'%s' gives %llu", good[i].text, (unsigned long long)value);
    }
}

static void check_bad(int (*parse)(const char *, uint64_t *), const char *const *bad, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t value = UNTOUCHED;

        if (parse(bad[i], &value) == 0 || value != UNTOUCHED)
            fail_msg("'%s' is accepted or wrote %llu", bad[i], (unsigned long long)value);
    }
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void durations_have_units_and_default_to_seconds(void **state)
{
    static const struct good good[] = {
        {"0", 0},
        {"5", 5000000000},
        {"1.5s", 1500000000},
        {"0.1", 100000000},
        {"250ms", 250000000},
        {"20us", 20000},
        {"100ns", 100},
        {"1.5ns", 2}, /* rounded to the nearest */
        {"0.5ns", 1},
        {"0.0ns", 0},
        {"2m", 120000000000},
        {"1h", 3600000000000},
        {"0.000000001", 1},
        {"18446744073s", 18446744073000000000u},
    };
    static const char *const bad[] = {
        "",     "s",  "5x",     "-1",           "+1",    " 1",           "1 s",
        "1s ",  "1.", ".5",     "1e3",          "0x10",  "inf",          "nan",
        "1,5",  "5S", "0.49ns", "0.0000000004", "1.2.3", "18446744074s", "999999999999999999999h",
        "5sec",
    };

    (void)state;
    check_good(units_parse_duration, good, COUNT(good));
    check_bad(units_parse_duration, bad, COUNT(bad));
}

static void counts_are_whole(void **state)
{
    static const struct good good[] = {
        {"0", 0},
        {"10000", 10000},
        {"10k", 10000},
        {"1.5M", 1500000},
        {"2G", 2000000000},
        {"1.234k", 1234},
        {"18446744073709551615", UINT64_MAX},
    };
    static const char *const bad[] = {"",   "k",   "1.5", "1.2345k", "-1",
                                      "1K", "1 k", "1kk", "ten",     "18446744073709551616"};

    (void)state;
    check_good(units_parse_count, good, COUNT(good));
    check_bad(units_parse_count, bad, COUNT(bad));
}

/* Most of these fractions have no exact value in binary. */
static void fractions_of_a_whole_count_are_whole(void **state)
{
    static const struct {
        const char *unit;
        uint64_t thousandth;
    } units[] = {{"k", 1}, {"M", 1000}, {"G", 1000000}};
    char text[UNITS_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < COUNT(units); i++)
        for (unsigned n = 0; n < 20000; n++) {
            const struct good good = {text, n * units[i].thousandth};

            snprintf(text, sizeof text, "%u.%03u%s", n / 1000, n % 1000, units[i].unit);
            check_good(units_parse_count, &good, 1);
            check_good(units_parse_bytes, &good, 1);
        }
}

static void shares_are_one_in_many(void **state)
{
    static const char *const bad[] = {"",    "1",    "/2",    "1/",   "2/3",
                                      "1/0", "1/-1", "1/0.5", "1/2 ", "1/2/3"};
    uint64_t one_in = 7;

    (void)state;
    assert_int_equal(units_parse_share("1/100", &one_in), 0);
    assert_int_equal(one_in, 100);
    assert_int_equal(units_parse_share("1/1k", &one_in), 0);
    assert_int_equal(one_in, 1000);
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(units_parse_share(bad[i], &one_in), -1);
    assert_int_equal(one_in, 1000);
}

static void bytes_are_binary_and_decimal(void **state)
{
    static const struct good good[] = {
        {"4096", 4096},  {"64k", 64000},       {"64KiB", 65536}, {"1MiB", 1048576},
        {"1M", 1000000}, {"2GiB", 2147483648}, {"1.5KiB", 1536},
    };
    static const char *const bad[] = {"", "KiB", "1.3KiB", "1kib", "-1", "1B"};

    (void)state;
    check_good(units_parse_bytes, good, COUNT(good));
    check_bad(units_parse_bytes, bad, COUNT(bad));
}

static void rates_may_be_fractions(void **state)
{
    static const char *const bad[] = {"", "abc", "nan", "inf", "-1", "1e6", "5/s"};
    double rate = 7;

    (void)state;
    assert_int_equal(units_parse_rate("0.5", &rate), 0);
    assert_true(rate == 0.5);
    assert_int_equal(units_parse_rate("20k", &rate), 0);
    assert_true(rate == 20000);
    assert_int_equal(units_parse_rate("1.2M", &rate), 0);
    assert_true(rate == 1200000);
    rate = 7;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(units_parse_rate(bad[i], &rate), -1);
        assert_true(rate == 7);
    }
}

static void percentages_need_their_sign(void **state)
{
    static const char *const bad[] = {"", "%", "3", "-1%", "1e1%", "3 %", "3%%", "inf%"};
    double part = 7;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(units_parse_percent(bad[i], &part), -1);
    assert_true(part == 7);
    assert_int_equal(units_parse_percent("3%", &part), 0);
    assert_true(part == 0.03);
    assert_int_equal(units_parse_percent("0.1%", &part), 0);
    assert_true(part == 0.001);
}

static void durations_print_three_digits_in_the_unit_that_suits(void **state)
{
    static const struct good good[] = {
        {"0 ns", 0},
        {"999 ns", 999},
        {"1.00 us", 1000},
        {"1.23 us", 1234},
        {"45.6 ms", 45600000},
        {"789 ms", 789000000},
        {"12.3 s", 12300000000},
        {"1.00 ms", 999600},
        {"10.0 us", 9996},
        {"100 us", 99960},
        {"1.00 s", 999600000},
        {"999 s", 999400000000},
        {"1,000 s", 999600000000},
        {"3,600 s", 3600000000000},
    };
    char text[UNITS_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_string_equal(units_format_duration(text, good[i].value), good[i].text);
    assert_string_equal(units_format_duration(text, UINT64_MAX), "18,446,744,074 s");
}

static void written_durations_are_exact_and_read_back(void **state)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } cases[] = {
        {0, "0s"},
        {20000, "20us"},
        {1500000000, "1500ms"},
        {3600000000000, "3600s"},
        {1000000001, "1000000001ns"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[UNITS_TEXT_BYTES];
        uint64_t ns;

        assert_string_equal(units_write_duration(text, cases[i].ns), cases[i].text);
        assert_int_equal(units_parse_duration(text, &ns), 0);
        assert_int_equal(ns, cases[i].ns);
    }
}

static void counts_print_with_separators(void **state)
{
    static const struct good good[] = {
        {"0", 0},
        {"999", 999},
        {"1,000", 1000},
        {"1,234,567", 1234567},
        {"18,446,744,073,709,551,615", UINT64_MAX},
    };
    char text[UNITS_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_string_equal(units_format_count(text, good[i].value), good[i].text);
    assert_string_equal(units_format_known(text, 1000), "1,000");
    assert_string_equal(units_format_known(text, UINT64_MAX), "unknown");
}

static void small_rates_print_with_three_digits(void **state)
{
    char text[UNITS_TEXT_BYTES];

    (void)state;
    assert_string_equal(units_format_rate(text, 0), "0");
    assert_string_equal(units_format_rate(text, 0.625), "0.625");
    assert_string_equal(units_format_rate(text, 9.994), "9.99");
    assert_string_equal(units_format_rate(text, 10.4), "10");
    assert_string_equal(units_format_rate(text, 1234567.5), "1,234,568");
}

static void tenths_are_not_all_that_is_left_of_a_small_rate(void **state)
{
    char text[UNITS_TEXT_BYTES];

    (void)state;
    assert_string_equal(units_format_tenths(text, 0), "0.0");
    assert_string_equal(units_format_tenths(text, 0.016666), "0.0167");
    assert_string_equal(units_format_tenths(text, 0.9999), "1");
    assert_string_equal(units_format_tenths(text, 1), "1.0");
    assert_string_equal(units_format_tenths(text, 20105.64), "20105.6");
}

static void decimals_have_no_exponent(void **state)
{
    char text[UNITS_TEXT_BYTES];

    (void)state;
    assert_string_equal(units_format_decimal(text, 0), "0");
    assert_string_equal(units_format_decimal(text, 0.05), "0.05");
    assert_string_equal(units_format_decimal(text, 33333.333), "33333.3");
    assert_string_equal(units_format_decimal(text, 999999.4), "999999");
    assert_string_equal(units_format_decimal(text, 999999.5), "1000000");
    assert_string_equal(units_format_decimal(text, 1234567.8), "1234568");
}

static void only_one_is_singular(void **state)
{
    (void)state;
    assert_string_equal(units_noun(0, "query", "queries"), "queries");
    assert_string_equal(units_noun(1, "query", "queries"), "query");
    assert_string_equal(units_noun(2, "query", "queries"), "queries");
    assert_string_equal(units_noun(UINT64_MAX, "query", "queries"), "queries"); /* unknown */
}

static void bytes_print_in_binary_multiples(void **state)
{
    static const struct good good[] = {
        {"512 B", 512},         {"1.00 KiB", 1024},    {"1.50 KiB", 1536},
        {"23.4 MiB", 24536678}, {"1.00 MiB", 1048500}, {"16.0 EiB", UINT64_MAX},
    };
    char text[UNITS_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_string_equal(units_format_bytes(text, good[i].value), good[i].text);
}

static void less_than_all_is_not_rounded_to_all(void **state)
{
    char text[UNITS_TEXT_BYTES];

    (void)state;
    snprintf(text, sizeof text, "%.4g", 100 * units_round_share(0.99999, 4));
    assert_string_equal(text, "99.99");
    snprintf(text, sizeof text, "%.3g", 100 * units_round_share(0.9996, 3));
    assert_string_equal(text, "99.9");
    assert_true(units_round_share(1, 4) == 1);
    assert_true(units_round_share(0.00001, 4) == 0.00001);
    assert_true(units_round_share(0, 4) == 0);
}

static void percentages_are_rounded_down(void **state)
{
    (void)state;
    assert_true(units_percent(19999999.0 / 20000000) == 99.9999);
    assert_true(units_percent(0.9999) == 99.99 && units_percent(1) == 100);
    for (unsigned i = 0; i <= 10000; i++) /* some are a little less as a double */
        assert_true(units_percent(i / 10000.0) == i / 100.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_durations_are_exact_and_read_back),
        cmocka_unit_test(durations_have_units_and_default_to_seconds),
        cmocka_unit_test(counts_are_whole),
        cmocka_unit_test(fractions_of_a_whole_count_are_whole),
        cmocka_unit_test(shares_are_one_in_many),
        cmocka_unit_test(bytes_are_binary_and_decimal),
        cmocka_unit_test(rates_may_be_fractions),
        cmocka_unit_test(percentages_need_their_sign),
        cmocka_unit_test(durations_print_three_digits_in_the_unit_that_suits),
        cmocka_unit_test(counts_print_with_separators),
        cmocka_unit_test(small_rates_print_with_three_digits),
        cmocka_unit_test(tenths_are_not_all_that_is_left_of_a_small_rate),
        cmocka_unit_test(decimals_have_no_exponent),
        cmocka_unit_test(less_than_all_is_not_rounded_to_all),
        cmocka_unit_test(percentages_are_rounded_down),
        cmocka_unit_test(only_one_is_singular),
        cmocka_unit_test(bytes_print_in_binary_multiples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
