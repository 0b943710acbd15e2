/* SPDX-License-Identifier: MIT
 * test_lines: lines as they are in the file, and files without end or that cannot be read. */
#include "report/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/tcpscaler-lines-XXXXXX";

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static int write_file(const char *text, size_t n_bytes)
{
    const int fd = mkstemp(strcpy(path, "/tmp/tcpscaler-lines-XXXXXX"));

    if (fd < 0 || write(fd, text, n_bytes) != (ssize_t)n_bytes)
        return -1;
    return close(fd);
}

static void lines_are_read_with_their_ends(void **state)
{
    static const char text[] = "one\n\ntw\0o\nthe last";
    static const char *const lines[] = {"one\n", "\n", "tw\0o\n", "the last"};
    static const size_t lengths[] = {4, 1, 5, 8};
    struct lines l;

    (void)state;
    assert_int_equal(write_file(text, sizeof text - 1), 0);
    assert_int_equal(lines_open(&l, path), 0);
    for (uint64_t i = 0; i < 4; i++) {
        assert_true(lines_next(&l));
        assert_int_equal(l.length, lengths[i]);
        assert_memory_equal(l.line, lines[i], lengths[i] + 1);
        assert_int_equal(l.number, i + 1);
    }
    assert_false(lines_next(&l));
    assert_int_equal(lines_end(&l), 0);
    lines_close(&l);
}

static void marks_of_windows_are_left_out(void **state)
{
    static const char text[] = "\xef\xbb\xbfone\r\n\r\ntw\ro\r\n\xef\xbb\xbf\r";
    static const char *const lines[] = {"one\n", "\n", "tw\ro\n", "\xef\xbb\xbf\r"};
    struct lines l;

    (void)state;
    assert_int_equal(write_file(text, sizeof text - 1), 0);
    assert_int_equal(lines_open(&l, path), 0);
    for (int i = 0; i < 4; i++) {
        assert_true(lines_next(&l));
        assert_string_equal(l.line, lines[i]);
        assert_int_equal(l.length, strlen(lines[i]));
    }
    assert_false(lines_next(&l));
    assert_int_equal(lines_end(&l), 0);
    lines_close(&l);
}

static void long_line_is_read(void **state)
{
    enum { N_BYTES = 100000 };
    char *text = malloc(N_BYTES);
    struct lines l;

    (void)state;
    assert_non_null(text);
    memset(text, 'x', N_BYTES);
    assert_int_equal(write_file(text, N_BYTES), 0);
    assert_int_equal(lines_open(&l, path), 0);
    assert_true(lines_next(&l));
    assert_int_equal(l.length, N_BYTES);
    assert_int_equal(strlen(l.line), N_BYTES);
    lines_close(&l);
    free(text);
}

static void line_without_end_is_refused(void **state)
{
    struct lines l;

    (void)state;
    assert_int_equal(lines_open(&l, "/dev/zero"), 0);
    assert_false(lines_next(&l));
    assert_int_equal(lines_end(&l), -1);
    lines_close(&l);
}

static void a_file_that_cannot_be_read_has_not_ended(void **state)
{
    struct lines l;

    (void)state;
    assert_int_equal(lines_open(&l, "/tmp"), 0);
    assert_false(lines_next(&l));
    assert_int_equal(lines_end(&l), -1);
    lines_close(&l);
    assert_int_equal(lines_open(&l, "/nonexistent"), -1);
    lines_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(lines_are_read_with_their_ends, remove_file),
        cmocka_unit_test_teardown(marks_of_windows_are_left_out, remove_file),
        cmocka_unit_test_teardown(long_line_is_read, remove_file),
        cmocka_unit_test(line_without_end_is_refused),
        cmocka_unit_test(a_file_that_cannot_be_read_has_not_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
