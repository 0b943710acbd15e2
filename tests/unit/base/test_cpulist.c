/* SPDX-License-Identifier: MIT
 * test_cpulist: lists of CPUs, good and bad. */
#include "base/cpulist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void lists_keep_their_order(void **state)
{
    struct cpulist list;
    char error[CPULIST_ERROR_BYTES];

    (void)state;
    assert_int_equal(cpulist_parse("6,0-2,1023", &list, error), 0);
    assert_int_equal(list.n, 5);
    assert_int_equal(list.cpus[0], 6);
    assert_int_equal(list.cpus[3], 2);
    assert_int_equal(list.cpus[4], 1023);
    assert_int_equal(cpulist_parse("0-1023", &list, error), 0);
    assert_int_equal(list.n, CPULIST_MOST);
}

static void workers_go_round_the_list(void **state)
{
    const struct cpulist two = {.n = 2, .cpus = {4, 2}}, none = {0};

    (void)state;
    assert_int_equal(cpulist_of(&two, 0), 4);
    assert_int_equal(cpulist_of(&two, 1), 2);
    assert_int_equal(cpulist_of(&two, 2), 4);
    assert_int_equal(cpulist_of(&none, 0), -1);
}

static void bad_lists_are_refused(void **state)
{
    static const char *const bad[] = {"",     ",",   "a",     "1,",   ",1", "3-1", "1-",
                                      "1--2", "0,0", "0-2,1", "1024", "-1", "1 2", "99999999999"};
    struct cpulist list;
    char error[CPULIST_ERROR_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error[0] = '\0';
        assert_int_equal(cpulist_parse(bad[i], &list, error), -1);
        assert_int_equal(list.n, 0);
        assert_non_null(strstr(error, "0-3,6"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_keep_their_order),
        cmocka_unit_test(workers_go_round_the_list),
        cmocka_unit_test(bad_lists_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
