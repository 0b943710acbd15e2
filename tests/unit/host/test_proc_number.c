/* SPDX-License-Identifier: MIT
 * test_proc_number: numbers in files that look like those of /proc. */
#include "host/proc_number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/test_proc_number_XXXXXX";

static int write_file(void **state)
{
    static const char text[] = "TCP: inuse 5 orphan 0 tw 3 mem x\n"
                               "Slab:      1234 kB\n"
                               "range\t500   600\n"
                               "Slab:      9 kB\n";
    const int fd = mkstemp(path);

    (void)state;
    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? close(fd) : -1;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void a_number_is_found_by_the_head_of_its_line(void **state)
{
    (void)state;
    assert_int_equal(proc_number(path, "Slab:", 0), 1234);
    assert_int_equal(proc_number(path, "range", 0), 500);
    assert_int_equal(proc_number(path, "range", 1), 600);
    assert_int_equal(proc_number(path, "range", 2), PROC_NUMBER_UNKNOWN);
    assert_int_equal(proc_number(path, "missing", 0), PROC_NUMBER_UNKNOWN);
    assert_int_equal(proc_number("/nonexistent", "", 0), PROC_NUMBER_UNKNOWN);
}

static void a_number_is_found_by_its_name(void **state)
{
    (void)state;
    assert_int_equal(proc_number_named(path, "TCP:", " inuse "), 5);
    assert_int_equal(proc_number_named(path, "TCP:", " tw "), 3);
    assert_int_equal(proc_number_named(path, "TCP:", " mem "), PROC_NUMBER_UNKNOWN);
    assert_int_equal(proc_number_named(path, "UDP:", " inuse "), PROC_NUMBER_UNKNOWN);
    assert_int_equal(proc_number_named("/nonexistent", "TCP:", " tw "), PROC_NUMBER_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_found_by_the_head_of_its_line),
        cmocka_unit_test(a_number_is_found_by_its_name),
    };

    return cmocka_run_group_tests(tests, write_file, remove_file);
}
