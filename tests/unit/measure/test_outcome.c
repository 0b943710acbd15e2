/* SPDX-License-Identifier: MIT
 * test_outcome: names, remedies and the classes of errno. */
#include "measure/outcome.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void names_are_there_and_differ(void **state)
{
    (void)state;
    for (int a = 0; a < OUTCOME_N_PHASES; a++)
        for (int b = 0; b < a; b++)
            assert_string_not_equal(outcome_phase_name((enum outcome_phase)a),
                                    outcome_phase_name((enum outcome_phase)b));
    for (int a = 0; a < OUTCOME_N_REASONS; a++)
        for (int b = 0; b < a; b++)
            assert_string_not_equal(outcome_reason_name((enum outcome_reason)a),
                                    outcome_reason_name((enum outcome_reason)b));
    assert_string_equal(outcome_phase_name(PHASE_CONNECT), "connect");
    assert_string_equal(outcome_reason_name(REASON_PORTS), "source ports exhausted");
}

static void every_failure_has_a_remedy_of_one_line(void **state)
{
    (void)state;
    for (int r = 0; r < OUTCOME_N_REASONS; r++) {
        const char *remedy = outcome_remedy((enum outcome_reason)r);

        if (r == REASON_FINISHED || r == REASON_CANCELLED || r == REASON_IDLE ||
            r == REASON_KEEPALIVE) {
            assert_null(remedy);
            continue;
        }
        assert_non_null(remedy);
        assert_in_range(strlen(remedy), 20, 160);
        assert_null(strchr(remedy, '\n'));
    }
}

static void errors_of_one_cause_are_one_class(void **state)
{
    static const struct {
        int error;
        enum outcome_reason reason;
    } known[] = {
        {EADDRINUSE, REASON_PORTS},
        {EADDRNOTAVAIL, REASON_PORTS},
        {EMFILE, REASON_FDS},
        {ENFILE, REASON_FDS},
        {ENOBUFS, REASON_MEMORY},
        {ENOMEM, REASON_MEMORY},
        {ENOSPC, REASON_WATCHES},
        {ECONNREFUSED, REASON_REFUSED},
        {ENETUNREACH, REASON_UNREACHABLE},
        {ENETDOWN, REASON_UNREACHABLE},
        {EHOSTUNREACH, REASON_UNREACHABLE},
        {EHOSTDOWN, REASON_UNREACHABLE},
        {EINVAL, REASON_UNREACHABLE},
        {EACCES, REASON_PERMISSION},
        {EPERM, REASON_PERMISSION},
        {ETIMEDOUT, REASON_TIMEOUT},
        {EPIPE, REASON_RESET},
        {ECONNRESET, REASON_RESET},
        {ECONNABORTED, REASON_RESET},
        {EDOM, REASON_OTHER},
        {0, REASON_OTHER},
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(outcome_reason_of_errno(known[i].error), known[i].reason);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_there_and_differ),
        cmocka_unit_test(every_failure_has_a_remedy_of_one_line),
        cmocka_unit_test(errors_of_one_cause_are_one_class),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
