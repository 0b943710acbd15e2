/* SPDX-License-Identifier: MIT
 * test_log: what a line to the user leaves behind. */
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

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

static void a_long_path_does_not_cut_the_reason_off(void **state)
{
    char path[PATH_MAX], line[2 * PATH_MAX];
    FILE *out = tmpfile();

    (void)state;
    assert_non_null(out);
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    log_set_stream(out);
    log_error("--start-file: cannot write '%s.ready': too long", path);
    log_set_stream(NULL);
    rewind(out);
    assert_non_null(fgets(line, sizeof line, out));
    assert_non_null(strstr(line, "ppp.ready': too long\n"));
    fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errno_stays_as_it_was),
        cmocka_unit_test(a_long_path_does_not_cut_the_reason_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
