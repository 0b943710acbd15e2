/* SPDX-License-Identifier: MIT
 * test_rows_format: rows as text. */
#include "measure/rows_format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))
#define OFFSET_NS   1700000000000000000ull

static void rows_have_exactly_the_described_text(void **state)
{
    static const struct {
        struct rows_record sample;
        uint32_t ring;
        uint64_t offset_ns;
        const char *expected;
    } cases[] = {
        {{0, 0, 0, 0, 0, 'Q', 0}, 0, 0, "Q,0.000000000,0,0,0,0,,,0.000\n"},
        {{0, 0, 0, 0, 0, 'A', 0}, 3, 0, "A,0.000000000,0,0,,,0,0.000,0.000\n"},
        {{5, 999, 1999, 7, 9, 'Q', 0}, 3, OFFSET_NS, "Q,1700000000.000000005,7,9,3,1,,,0.999\n"},
        {{5, 999, 1999, 7, 9, 'A', 0},
         3,
         OFFSET_NS,
         "A,1700000000.000000005,7,9,,,1,2.998,0.999\n"},
        {{999999999, 1000, 999, 10, 10, 'A', 0}, 0, 1, "A,1.000000000,10,10,,,0,1.999,1.000\n"},
        {{5, 1500, (uint64_t)-2500, 7, 9, 'A', 0},
         3,
         OFFSET_NS,
         "A,1700000000.000000005,7,9,,,-2,-1.000,1.500\n"},
        {{12345678901, 1234567, 89012345, 100000, 65535, 'Q', 0},
         15,
         1000000000,
         "Q,13.345678901,100000,65535,15,89012,,,1234.567\n"},
        {{12345678901, 1234567, 89012345, UINT32_MAX, 65535, 'A', 0},
         15,
         1000000000,
         "A,13.345678901,4294967295,65535,,,89012,90246.912,1234.567\n"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        char row[ROWS_LINE_BYTES + 1];
        const unsigned n = rows_format(row, &cases[i].sample, cases[i].ring, cases[i].offset_ns);

        assert_in_range(n, 1, ROWS_LINE_BYTES);
        row[n] = '\0';
        assert_string_equal(row, cases[i].expected);
    }
}

static unsigned count_commas(const char *text, size_t n_bytes)
{
    unsigned n = 0;

    for (size_t i = 0; i < n_bytes; i++)
        n += text[i] == ',';
    return n;
}

static void no_row_is_longer_than_its_room(void **state)
{
    static const char types[] = {'Q', 'A'};

    (void)state;
    for (size_t i = 0; i < N_OF(types); i++) {
        const struct rows_record longest = {UINT64_MAX, UINT64_MAX / 2, UINT64_MAX / 2,
                                            UINT32_MAX, UINT16_MAX,     (uint8_t)types[i],
                                            0};
        char row[ROWS_LINE_BYTES];
        const unsigned n = rows_format(row, &longest, UINT32_MAX, 0);

        assert_in_range(n, 80, ROWS_LINE_BYTES);
        assert_int_equal(count_commas(row, n), count_commas(ROWS_HEADER, strlen(ROWS_HEADER)));
        assert_int_equal(row[n - 1], '\n');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_exactly_the_described_text),
        cmocka_unit_test(no_row_is_longer_than_its_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
