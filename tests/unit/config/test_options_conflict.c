/* SPDX-License-Identifier: MIT
 * test_options_conflict: the message for options that another one excludes. */
#include "config/options_conflict.h"

#include "config/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static char error[OPTIONS_ERROR_BYTES];

static int refuse(bool first, bool second)
{
    const struct options_conflict rows[] = {
        {"--tls", first, "TLS runs over TCP"},
        {"--loop closed", second, "queries are due on schedule"},
    };

    error[0] = '\0';
    return options_refuse_conflicts("--on-demand:", rows, 2, error);
}

static void options_not_in_use_are_no_conflict(void **state)
{
    (void)state;
    assert_int_equal(refuse(false, false), 0);
    assert_string_equal(error, "");
}

static void the_message_names_the_first_option_in_use_and_the_reason(void **state)
{
    (void)state;
    assert_int_equal(refuse(false, true), -1);
    assert_string_equal(error,
                        "--on-demand: conflicts with --loop closed: queries are due on schedule");
    assert_int_equal(refuse(true, true), -1);
    assert_string_equal(error, "--on-demand: conflicts with --tls: TLS runs over TCP");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_not_in_use_are_no_conflict),
        cmocka_unit_test(the_message_names_the_first_option_in_use_and_the_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
