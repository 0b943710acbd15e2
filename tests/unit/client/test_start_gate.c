/* SPDX-License-Identifier: MIT
 * test_start_gate: what the result says of a start that the run never reached, and which start
 * files are refused. */
#include "client/start_gate.h"

#include "client/result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The kernel's bound grows with time. */
static void before_the_gate_only_the_clock_is_known(void **state)
{
    struct client_start start;
    struct clock_bound before, after;

    (void)state;
    memset(&start, 0xff, sizeof start);
    clock_read_bound(&before);
    start_gate_init(&start);
    clock_read_bound(&after);
    assert_true(start.requested);
    assert_false(start.missed);
    assert_int_equal(start.at_epoch_ns, 0);
    assert_true(start.late_ns == UINT64_MAX);
    assert_int_equal(start.clock.is_synchronized, before.is_synchronized);
    assert_true(start.clock.max_error_ns >= before.max_error_ns);
    assert_true(start.clock.max_error_ns <= after.max_error_ns);
}

/* It would wait forever: mv(1) puts the file with the time into the directory. */
static void a_directory_is_no_start_file(void **state)
{
    char directory[] = "/tmp/test_start_gate_XXXXXX";
    struct start_gate_settings settings = {.file = directory};

    (void)state;
    assert_non_null(mkdtemp(directory));
    assert_int_equal(start_gate_prepare(&settings), -1);
    assert_int_equal(rmdir(directory), 0);
    assert_int_equal(start_gate_prepare(&settings), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_gate_only_the_clock_is_known),
        cmocka_unit_test(a_directory_is_no_start_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
