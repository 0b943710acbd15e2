/* SPDX-License-Identifier: MIT
 * test_student: compared with printed tables. */
#include "measure/student.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct {
    double t, p;
    size_t df;
} table[] = {
    {12.7062, 0.05, 1}, {4.3027, 0.05, 2},  {5.8409, 0.01, 3},   {8.6103, 0.001, 4},
    {2.2281, 0.05, 10}, {3.0123, 0.01, 13}, {4.2208, 0.001, 13}, {1.9840, 0.05, 100},
};

static void the_printed_tables_are_met(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_true(fabs(student_p(table[i].t, table[i].df) / table[i].p - 1) < 1e-3);
        assert_true(fabs(student_p(-table[i].t, table[i].df) / table[i].p - 1) < 1e-3);
        assert_true(fabs(student_t(table[i].p, table[i].df) / table[i].t - 1) < 1e-3);
    }
}

static void the_ends_are_exact(void **state)
{
    (void)state;
    for (size_t df = 1; df < 20; df++) {
        assert_true(student_p(0, df) == 1);
        assert_true(student_p(INFINITY, df) < 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_printed_tables_are_met),
        cmocka_unit_test(the_ends_are_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
