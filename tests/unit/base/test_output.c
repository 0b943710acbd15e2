/* SPDX-License-Identifier: MIT
 * test_output: outputs opened together, emptying files, and what remains of an output that fails.
 * Blocking is tested with the programs (tests/e2e/outputs.py). */
#include "base/output.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_BYTES = 128 };

static char directory[] = "/tmp/test-output-XXXXXX";

static const char *path_of(char *path, const char *name)
{
    snprintf(path, PATH_BYTES, "%s/%s", directory, name);
    return path;
}

static void put(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void assert_content(const char *path, const char *expected)
{
    char text[256] = "";
    FILE *in = fopen(path, "r");

    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    assert_string_equal(text, expected);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"a", "b", "c"};
    char path[PATH_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(path, names[i]));
    return rmdir(directory);
}

static void a_file_keeps_its_content_until_the_output_begins(void **state)
{
    struct output o;
    char a[PATH_BYTES];

    (void)state;
    put(path_of(a, "a"), "old");
    assert_int_equal(output_open(&o, "json", a), 0);
    assert_content(a, "old");
    assert_int_equal(output_begin(&o), 0);
    assert_content(a, "");
    fputs("new", o.stream);
    assert_int_equal(output_flush(&o), 0);
    assert_content(a, "new");
    assert_int_equal(output_begin(&o), 0);
    fputs("newer", o.stream);
    assert_int_equal(output_close(&o, true), 0);
    assert_content(a, "newer");
    assert_int_equal(output_close(&o, true), 0);
}

static void one_file_is_one_output_whatever_its_names(void **state)
{
    struct output one, other;
    char a[PATH_BYTES], b[PATH_BYTES], c[PATH_BYTES];

    (void)state;
    put(path_of(a, "a"), "");
    assert_int_equal(link(a, path_of(b, "b")), 0);
    assert_int_equal(symlink(a, path_of(c, "c")), 0);
    assert_int_equal(output_open(&one, "json", a), 0);
    assert_int_equal(output_open(&other, "hgrm", a), -1);
    assert_int_equal(output_open(&other, "hgrm", b), -1);
    assert_int_equal(output_open(&other, "hgrm", c), -1);
    assert_int_equal(output_close(&one, true), 0);
    /* once closed, it is no longer another output */
    assert_int_equal(output_open(&other, "hgrm", c), 0);
    assert_int_equal(output_close(&other, true), 0);
    unlink(b);
    unlink(c);
}

static void devices_may_be_shared(void **state)
{
    struct output one, other;

    (void)state;
    assert_int_equal(output_open(&one, "json", "/dev/null"), 0);
    assert_int_equal(output_open(&other, "hgrm", "/dev/null"), 0);
    assert_int_equal(output_close(&one, true) | output_close(&other, true), 0);
}

/* RLIMIT_FSIZE would need a signal handler: uses a descriptor that cannot be written to. */
static void what_is_left_of_a_failed_document_is_nothing_and_of_a_log_its_begin(void **state)
{
    char a[PATH_BYTES];

    (void)state;
    for (int is_document = 0; is_document <= 1; is_document++) {
        struct output o;
        const int read_only = open("/dev/null", O_RDONLY);
        int kept;

        assert_int_equal(output_open(&o, "json", path_of(a, "a")), 0);
        assert_int_equal(output_begin(&o), 0);
        fputs("begin", o.stream);
        assert_int_equal(output_flush(&o), 0);
        kept = dup(o.fd);
        fputs("end", o.stream);
        assert_int_equal(dup2(read_only, o.fd), o.fd);
        assert_int_equal(fflush(o.stream), EOF);
        assert_int_equal(dup2(kept, o.fd), o.fd);
        assert_int_equal(output_close(&o, is_document), -1);
        assert_content(a, is_document ? "" : "begin");
        close(kept);
        close(read_only);
    }
}

static void a_failed_write_is_not_tried_again_with_the_next(void **state)
{
    struct output o;
    char a[PATH_BYTES];
    int kept, full;

    (void)state;
    assert_int_equal(output_open(&o, "json", path_of(a, "a")), 0);
    assert_int_equal(output_begin(&o), 0);
    kept = dup(o.fd);
    full = open("/dev/full", O_WRONLY);
    assert_int_equal(dup2(full, o.fd), o.fd);
    fputs("lost", o.stream);
    assert_int_equal(output_flush(&o), -1);
    assert_int_equal(dup2(kept, o.fd), o.fd);
    fputs("whole", o.stream);
    assert_int_equal(output_close(&o, true), 0);
    assert_content(a, "whole");
    close(kept);
    close(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_keeps_its_content_until_the_output_begins),
        cmocka_unit_test(one_file_is_one_output_whatever_its_names),
        cmocka_unit_test(devices_may_be_shared),
        cmocka_unit_test(what_is_left_of_a_failed_document_is_nothing_and_of_a_log_its_begin),
        cmocka_unit_test(a_failed_write_is_not_tried_again_with_the_next),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
