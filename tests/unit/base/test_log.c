/* SPDX-License-Identifier: MIT
 * test_log: what a line to the user leaves behind. */
#include "base/log.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Not even a line that could not be written changes it. */
static void errno_stays_as_it_was(void **state)
{
    FILE *full = fopen("/dev/full", "we");

    (void)state;
    assert_non_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    log_set_stream(full);
    errno = EADDRNOTAVAIL;
    assert_int_equal(log_error("no room for this"), -1);
    assert_int_equal(errno, EADDRNOTAVAIL);
    log_set_stream(NULL);
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errno_stays_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
