/* SPDX-License-Identifier: MIT
 * test_textfile: files of all sizes, and those that cannot be read. */
#include "base/textfile.h"

#include "file_steps.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void write_file(size_t n_bytes)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    for (size_t i = 0; i < n_bytes; i++)
        fputc('a' + (int)(i % 23), out);
    assert_int_equal(fclose(out), 0);
}

static void a_file_is_read_whole_and_terminated(void **state)
{
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 131072, 1000000};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n_bytes;
        char *text;

        write_file(sizes[i]);
        text = textfile_read(path, 1000000, &n_bytes);
        assert_non_null(text);
        assert_int_equal(n_bytes, sizes[i]);
        for (size_t k = 0; k < n_bytes; k++)
            if (text[k] != 'a' + (char)(k % 23))
                fail_msg("byte %zu of %zu", k, n_bytes);
        assert_int_equal(text[n_bytes], 0);
        free(text);
    }
}

static void more_than_allowed_is_an_error(void **state)
{
    static const size_t most[] = {0, 999, 65535, 65536, 99999};
    size_t n_bytes;

    (void)state;
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        write_file(most[i] + 1);
        errno = 0;
        assert_null(textfile_read(path, most[i], &n_bytes));
        assert_int_equal(errno, EFBIG);
    }
}

static void byte_order_mark_is_left_out(void **state)
{
    static const struct {
        const char *written, *read;
    } texts[] = {
        {"\xef\xbb\xbf", ""},
        {"\xef\xbb\xbf"
         "a\n",
         "a\n"},
        {"\xef\xbb\xbf\xef\xbb\xbf", "\xef\xbb\xbf"},
        {"\xef\xbb", "\xef\xbb"},
        {"a\xef\xbb\xbf", "a\xef\xbb\xbf"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *out = fopen(path, "w");
        size_t n_bytes;
        char *text;

        assert_non_null(out);
        fputs(texts[i].written, out);
        assert_int_equal(fclose(out), 0);
        text = textfile_read(path, 100, &n_bytes);
        assert_non_null(text);
        assert_string_equal(text, texts[i].read);
        assert_int_equal(n_bytes, strlen(texts[i].read));
        free(text);
    }
}

static void what_cannot_be_read_is_an_error(void **state)
{
    size_t n_bytes;

    (void)state;
    assert_null(textfile_read("/nonexistent", 100, &n_bytes));
    assert_int_equal(errno, ENOENT);
    assert_null(textfile_read("/tmp", 100, &n_bytes));
    assert_int_equal(errno, EISDIR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_whole_and_terminated),
        cmocka_unit_test(more_than_allowed_is_an_error),
        cmocka_unit_test(byte_order_mark_is_left_out),
        cmocka_unit_test(what_cannot_be_read_is_an_error),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
