/* SPDX-License-Identifier: MIT
 * test_search_names: the words for the states of a search. */
#include "client/search/search_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void states_have_names(void **state)
{
    (void)state;
    assert_string_equal(search_status_name(SEARCH_RUNNING), "running");
    assert_string_equal(search_status_name(SEARCH_AT_LEAST), "at-least");
    assert_string_equal(search_status_name(SEARCH_INCONCLUSIVE), "inconclusive");
    assert_null(search_reason_name(SEARCH_NO_REASON));
    assert_string_equal(search_reason_name(SEARCH_VOID), "void-trials");
    assert_string_equal(search_reason_name(SEARCH_STOPPED), "stopped");
    assert_string_equal(search_reason_name(SEARCH_SERVER_GONE), "server-gone");
    assert_string_equal(search_step_name(SEARCH_DOUBLE), "double");
    assert_string_equal(search_step_name(SEARCH_RECOVER), "recover");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
