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

static int refuse_without(bool in_use)
{
    const struct options_conflict row = {"--tls", in_use, "TLS runs over TCP"};

    return options_refuse_without("--keepalive", "--on-demand", &row, 1, error);
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

static void an_option_that_is_missing_is_asked_for_only_if_nothing_excludes_it(void **state)
{
    (void)state;
    assert_int_equal(refuse_without(false), -1);
    assert_string_equal(error, "--keepalive: requires --on-demand");
    assert_int_equal(refuse_without(true), -1);
    assert_string_equal(error, "--keepalive: requires --on-demand, which conflicts with --tls: "
                               "TLS runs over TCP");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_not_in_use_are_no_conflict),
        cmocka_unit_test(the_message_names_the_first_option_in_use_and_the_reason),
        cmocka_unit_test(an_option_that_is_missing_is_asked_for_only_if_nothing_excludes_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
