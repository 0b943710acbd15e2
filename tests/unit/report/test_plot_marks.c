/* SPDX-License-Identifier: MIT
 * test_plot_marks: the marks of an axis for any range, and how many there are. */
#include "report/plot_marks.h"

#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Also of loads that differ by a few percent, far less than a decade. */
static void axis_of_loads_has_marks(void **state)
{
    static const struct {
        double low, high;
        const char *marks;
    } cases[] = {
        {9600, 10400, "'' 4363.63636, '9k' 9000, '10k' 10000, '11k' 11000)"},
        {1, 1, "'' 0.454545455, '0.95' 0.95, '1' 1, '1.05' 1.05, '1.1' 1.1)"},
        {2000, 6000, "'' 909.090909, '2k' 2000, '3k' 3000, '4k' 4000, '5k' 5000, '6k' 6000)"},
        {1000, 4000, "'' 454.545455, '1k' 1000, '2k' 2000, '3k' 3000, '4k' 4000)"},
        {1, 10, "'' 0.454545455, '1' 1, '2' 2, '5' 5, '10' 10)"},
        {2000, 80000, "'' 909.090909, '3k' 3000, '10k' 10000, '30k' 30000)"},
        {900, 1000000, "'' 409.090909, '1k' 1000, '10k' 10000, '100k' 100000, '1M' 1000000)"},
        {0, 10, "set logscale x\n"},
        {1, 1e308, "set logscale x\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;

        plot_marks_loads(print_open(), cases[i].low, cases[i].high);
        text = print_close();
        assert_has(text, cases[i].marks);
        free(text);
    }
}

/* A single mark would not tell how far apart others are. */
static void no_axis_of_loads_has_too_few_or_too_many_marks(void **state)
{
    (void)state;
    for (double low = 1; low < 10; low += 0.25)
        for (double ratio = 1; ratio < 1e6; ratio *= 1.1) {
            unsigned n = 0;
            char *text;

            plot_marks_loads(print_open(), low, ratio * low);
            text = print_close();
            for (const char *at = text; (at = strstr(at, ", '")) != NULL; at++)
                n++;
            assert_in_range(n, 2, 8);
            free(text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axis_of_loads_has_marks),
        cmocka_unit_test(no_axis_of_loads_has_too_few_or_too_many_marks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
