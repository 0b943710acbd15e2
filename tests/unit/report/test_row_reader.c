/* SPDX-License-Identifier: MIT
 * test_row_reader: rows formatted by measure/rows_format are read back; others are rejected. */
#include "report/row_reader.h"

#include "measure/rows_format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_comes_back(const struct rows_record *sample)
{
    char text[ROWS_LINE_BYTES + 1];
    struct row row;

    text[rows_format(text, sample, 3, 1769903999000000000)] = '\0';
    assert_int_equal(row_reader_take(text, &row), 0);
    assert_int_equal(row.is_answer, sample->type == 'A');
    assert_int_equal(row.time_ns, sample->time_ns + 1769903999000000000);
    assert_int_equal(row.connection, sample->connection);
    assert_int_equal(row.send_lag_ns, sample->lag_ns);
    if (row.is_answer) {
        assert_int_equal(row.response_ns, sample->lag_ns + sample->span_ns);
        assert_int_equal(row.service_ns, sample->span_ns);
    }
}

static void rows_come_back_to_the_nanosecond(void **state)
{
    const struct rows_record query = {123456789, 1001, 5000, 4000000000, 65535, 'Q', 0};
    const struct rows_record answer = {7, 999, 3600000000001, 0, 0, 'A', 0};

    (void)state;
    assert_comes_back(&query);
    assert_comes_back(&answer);
}

static void negative_response_and_service_times_are_read_as_zero(void **state)
{
    static const int64_t spans_ns[] = {-2000, -20000}; /* after 12 us until it was sent */
    struct row row;

    (void)state;
    for (size_t i = 0; i < sizeof spans_ns / sizeof *spans_ns; i++) {
        const struct rows_record message = {7, 12000, (uint64_t)spans_ns[i], 0, 0, 'A', 0};
        char text[ROWS_LINE_BYTES + 1];

        text[rows_format(text, &message, 0, 1769903999000000000)] = '\0';
        assert_int_equal(row_reader_take(text, &row), 0);
        assert_int_equal(row.response_ns, i == 0 ? 10000 : 0);
        assert_int_equal(row.service_ns, 0);
    }
}

/* A later version may add columns on the right, and reads these rows, too (docs/compatibility.md).
 */
static void rows_of_version_0_1_are_read(void **state)
{
    static const char header[] = "type,timestamp,connection_id,query_id,poisson_id,"
                                 "poisson_interval_us,rtt_us,response_us,send_lag_us\n";
    struct row row;

    (void)state;
    assert_memory_equal(ROWS_HEADER, header, strlen(header) - 1);
    assert_true(row_reader_is_header(header));
    assert_int_equal(row_reader_take("Q,1.000000000,7,9,3,1,,,0.999\n", &row), 0);
    assert_int_equal(row.connection, 7);
    assert_int_equal(row.send_lag_ns, 999);
    assert_int_equal(row_reader_take("A,1.000000000,7,9,,,1,2.998,0.999\n", &row), 0);
    assert_int_equal(row.response_ns, 2998);
}

static void invalid_rows_are_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "\n",
        ROWS_HEADER,
        "A",
        "B,1.0,0,1,,,5,5.000,0.000\n",
        "A,1.0,0,1,,,5,5.000\n",         /* one column too few */
        "A,1.0,0,1,,,5,5.000,0.000,1\n", /* an extra field */
        "A,1.0,0,1,,,5,,0.000\n",
        "A,1.0,0,1,,,5,5.0x,0.000\n",
        "A,x,0,1,,,5,5.000,0.000\n",
        "A,1.0,0,1,,,5,--5.000,0.000\n",
        "A,1.0,0,1,,,5,5.000,-1.000\n",
        "A,1.0,0,1,,,5,5.000,0.0", /* truncated: */
    };
    struct row row;

    (void)state;
    for (size_t i = 0; i + 1 < sizeof texts / sizeof *texts; i++)
        assert_int_equal(row_reader_take(texts[i], &row), -1);
    assert_int_equal(row_reader_take(texts[sizeof texts / sizeof *texts - 1], &row), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_to_the_nanosecond),
        cmocka_unit_test(negative_response_and_service_times_are_read_as_zero),
        cmocka_unit_test(rows_of_version_0_1_are_read),
        cmocka_unit_test(invalid_rows_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
