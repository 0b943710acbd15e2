/* SPDX-License-Identifier: MIT
 * test_hgrm: the percentile distribution as text. */
#include "measure/hgrm.h"

#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *text_of(const struct hist *h)
{
    hgrm_print(print_open(), h);
    return print_close();
}

static void lines_rise_from_the_minimum_to_the_maximum(void **state)
{
    double value, quantile, last_value = 0, last_quantile = -1;
    unsigned long count, last_count = 0;
    struct hist h;
    char *text, *line;
    int n_lines = 0;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    for (uint64_t v = 1; v <= 100000; v++)
        hist_record(&h, v * 1000);
    text = text_of(&h);
    line = strchr(text, '\n') + 2;
    for (; *line != '#'; line = strchr(line, '\n') + 1, n_lines++) {
        assert_int_equal(sscanf(line, "%lf %lf %lu", &value, &quantile, &count), 3);
        assert_true(value >= last_value && quantile > last_quantile && count >= last_count);
        /* counts all values below the percentile: the value is i us, the quantile i / 100000 */
        assert_true(value * 1.002 >= quantile * 100000);
        assert_true((double)count >= quantile * 100000);
        last_value = value;
        last_quantile = quantile;
        last_count = count;
    }
    assert_in_range(n_lines, 50, 70); /* 64 values to a bucket at the top: 11.5 halvings */
    assert_true(last_value == 100000 && last_quantile == 1 && last_count == 100000);
    assert_non_null(strstr(line, "#[Unanswered = 0, "));
    assert_non_null(strstr(line, "#[Mean    =    50000.500, StdDeviation   =    28867.658]\n"));
    assert_non_null(strstr(line, "#[Max     =   100000.000, Total count    =       100000]\n"));
    free(text);
    hist_free(&h);
}

static void unanswered_are_counted_above_all_values(void **state)
{
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    for (int i = 0; i < 75; i++)
        hist_record(&h, 1000);
    hist_record_beyond(&h, 25);
    text = text_of(&h);
    assert_non_null(strstr(text, "       1.000 0.750000000000         75 "));
    assert_non_null(strstr(text, "4398046511.103 0.775000000000        100           4.44\n"
                                 "4398046511.103 1.000000000000        100\n"));
    assert_non_null(strstr(text, "#[Unanswered = 25, counted at 4398046511.103; "));
    assert_non_null(strstr(text, "#[Max     =        1.000, Total count    =          100]\n"));
    free(text);
    hist_reset(&h);
    hist_record_beyond(&h, 3);
    text = text_of(&h);
    assert_non_null(strstr(text, "4398046511.103 0.000000000000          3           1.00\n"
                                 "4398046511.103 1.000000000000          3\n"));
    free(text);
    hist_free(&h);
}

static void no_answer_is_slower_than_the_slowest(void **state)
{
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    hist_record(&h, 1000500); /* in a bucket that ends at 1000959 */
    hist_record_beyond(&h, 1);
    assert_int_equal(hist_percentile(&h, 1, 2), 1000500);
    text = text_of(&h);
    assert_non_null(strstr(text, "    1000.500 0.500000000000          1 "));
    assert_null(strstr(text, "1000.959"));
    free(text);
    hist_free(&h);
}

static void plotters_find_the_maximum(void **state)
{
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    hist_record(&h, 7000);
    text = text_of(&h);
    assert_has(text, "       7.000 0.000000000000          1           1.00\n"
                     "       7.000 1.000000000000          1\n#");
    free(text);
    for (int i = 0; i < 99; i++)
        hist_record(&h, 1000);
    text = text_of(&h);
    assert_has(text, "       7.000 0.990625000000        100         106.67\n"
                     "       7.000 1.000000000000        100\n#");
    assert_has(text, "       1.000 0.989062500000         99          91.43\n"
                     "       7.000 ");
    free(text);
    hist_free(&h);
}

static void empty_histogram_has_head_and_foot(void **state)
{
    struct hist h;
    char *text;

    (void)state;
    assert_int_equal(hist_init(&h), 0);
    text = text_of(&h);
    assert_non_null(strstr(text, "TotalCount 1/(1-Percentile)\n\n#[Unanswered = 0,"));
    assert_non_null(strstr(text, "Total count    =            0]"));
    free(text);
    hist_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_rise_from_the_minimum_to_the_maximum),
        cmocka_unit_test(unanswered_are_counted_above_all_values),
        cmocka_unit_test(no_answer_is_slower_than_the_slowest),
        cmocka_unit_test(plotters_find_the_maximum),
        cmocka_unit_test(empty_histogram_has_head_and_foot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
