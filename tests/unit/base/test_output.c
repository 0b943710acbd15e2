/* SPDX-License-Identifier: MIT
 * test_output: outputs opened together, and what remains of an output that fails. */
#include "base/output.h"

#include "base/inputs.h"
#include "base/log.h"
#include "base/outputs.h"
#include "output_steps.h"
#include "print_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void a_log_keeps_its_content_until_it_begins(void **state)
{
    struct output o;
    char a[PATH_BYTES];

    (void)state;
    put(path_of(a, "a"), "old");
    assert_int_equal(output_open_log(&o, "hlog", a), 0);
    assert_content(a, "old");
    assert_int_equal(output_begin(&o), 0);
    assert_content(a, "");
    fputs("new", o.stream);
    assert_int_equal(output_flush(&o), 0);
    assert_content(a, "new");
    assert_int_equal(output_begin(&o), 0);
    output_put(&o, strdup("newer"), 5);
    assert_content(a, "newer");
    assert_int_equal(output_close(&o), 0);
    assert_content(a, "newer");
    assert_int_equal(output_close(&o), 0);
}

static void a_document_is_the_old_one_until_the_new_one_is_complete(void **state)
{
    struct output o;
    char a[PATH_BYTES], temporary[PATH_BYTES];

    (void)state;
    put(path_of(a, "a"), "old");
    path_of(temporary, "a.tmp");
    assert_int_equal(output_open_document(&o, "json", a), 0);
    assert_int_equal(output_begin(&o), 0);
    assert_int_equal(access(temporary, F_OK), -1);
    for (int i = 0; i < 2; i++) { /* as a server writes a result for each SIGUSR1 */
        fputs("new", o.stream);
        assert_int_equal(fflush(o.stream), 0);
        assert_content(a, i == 0 ? "old" : "new");
        assert_content(temporary, "new");
        assert_int_equal(output_flush(&o), 0);
        assert_content(a, "new");
        assert_int_equal(access(temporary, F_OK), -1);
    }
    assert_int_equal(output_put_document(&o, strdup("newer"), 5), 0);
    assert_content(a, "newer");
    fputs("newest", o.stream);
    assert_int_equal(output_close(&o), 0);
    assert_content(a, "newest");
}

static void a_withdrawn_output_leaves_the_file_as_it_was(void **state)
{
    struct output o;
    char a[PATH_BYTES], b[PATH_BYTES];

    (void)state;
    unlink(path_of(a, "a"));
    unlink(path_of(b, "b"));
    assert_int_equal(output_open_log(&o, "hlog", a), 0);
    assert_int_equal(access(a, F_OK), 0);
    output_withdraw(&o);
    assert_int_equal(access(a, F_OK), -1);
    output_withdraw(&o);
    put(a, "");
    assert_int_equal(output_open_log(&o, "hlog", a), 0);
    output_withdraw(&o);
    assert_content(a, ""); /* not by this */
    unlink(a);
    assert_int_equal(output_open_log(&o, "hlog", a), 0);
    output_put(&o, strdup("1"), 1);
    output_withdraw(&o);
    assert_content(a, "1");
    put(a, "old");
    assert_int_equal(output_open_document(&o, "json", a), 0);
    output_withdraw(&o);
    assert_content(a, "old");
    unlink(a);
    assert_int_equal(symlink(b, a), 0);
    assert_int_equal(output_open_log(&o, "hlog", a), 0);
    output_withdraw(&o);
    assert_int_equal(access(b, F_OK), -1);
    assert_int_equal(unlink(a), 0); /* the link */
}

static void an_output_that_conflicts_leaves_no_file(void **state)
{
    struct output json, rows;
    char a[PATH_BYTES], temporary[PATH_BYTES];

    (void)state;
    put(path_of(a, "a"), "old");
    path_of(temporary, "a.tmp");
    assert_int_equal(output_open_document(&json, "json", a), 0);
    assert_int_equal(output_open_log(&rows, "output", temporary), -1);
    assert_int_equal(access(temporary, F_OK), -1);
    output_withdraw(&json);
    assert_content(a, "old");
}

static void a_document_without_text_is_not_written(void **state)
{
    struct output o;
    char a[PATH_BYTES];

    (void)state;
    put(path_of(a, "a"), "old");
    assert_int_equal(output_open_document(&o, "json", a), 0);
    assert_int_equal(output_close(&o), 0);
    assert_content(a, "old");
    assert_int_equal(output_open_document(&o, "report", a), 0);
    assert_true(output_fd(&o) >= 0);
    fputs("a part", o.stream);
    output_abandon(&o);
    assert_content(a, "old");
}

static void one_file_is_one_output_whatever_its_names(void **state)
{
    struct output one, other;
    char a[PATH_BYTES], b[PATH_BYTES], c[PATH_BYTES];

    (void)state;
    put(path_of(a, "a"), "");
    assert_int_equal(link(a, path_of(b, "b")), 0);
    assert_int_equal(symlink(a, path_of(c, "c")), 0);
    assert_int_equal(output_open_document(&one, "json", a), 0);
    assert_int_equal(output_open_log(&other, "hlog", a), -1);
    assert_int_equal(output_open_document(&other, "hgrm", b), -1);
    assert_int_equal(output_open_document(&other, "hgrm", c), -1);
    assert_int_equal(output_close(&one), 0);
    /* once closed, it is no longer another output */
    assert_int_equal(output_open_document(&other, "hgrm", c), 0);
    assert_int_equal(output_close(&other), 0);
    unlink(b);
    unlink(c);
}

static void a_file_that_does_not_exist_is_one_output_too(void **state)
{
    struct output one, other;
    char a[PATH_BYTES], b[PATH_BYTES];

    (void)state;
    unlink(path_of(a, "a"));
    path_of(b, "./a");
    assert_int_equal(output_open_document(&one, "json", a), 0);
    assert_int_equal(output_open_document(&other, "hgrm", b), -1);
    assert_int_equal(output_open_log(&other, "hlog", b), -1);
    assert_int_equal(output_close(&one), 0);
    unlink(a);
}

/* In either order, whether the other is a document or a log. */
static void a_temporary_file_is_no_other_output(void **state)
{
    struct output one, other;
    char a[PATH_BYTES], temporary[PATH_BYTES];

    (void)state;
    unlink(path_of(a, "a"));
    unlink(path_of(temporary, "a.tmp"));
    assert_int_equal(output_open_document(&one, "json", a), 0);
    assert_int_equal(output_open_document(&other, "hgrm", temporary), -1);
    assert_int_equal(output_open_log(&other, "hlog", temporary), -1);
    assert_int_equal(output_close(&one), 0);
    unlink(temporary);
    assert_int_equal(output_open_document(&one, "hgrm", temporary), 0);
    assert_int_equal(output_open_document(&other, "json", a), -1);
    assert_int_equal(output_close(&one), 0);
    assert_int_equal(output_open_log(&one, "hlog", temporary), 0);
    assert_int_equal(output_open_document(&other, "json", a), -1);
    assert_int_equal(access(temporary, F_OK), 0);
    assert_int_equal(output_open_log(&other, "output", a), 0);
    assert_int_equal(output_close(&one) | output_close(&other), 0);
    unlink(temporary);
}

static void devices_may_be_shared(void **state)
{
    struct output one, other;

    (void)state;
    assert_int_equal(output_open_document(&one, "json", "/dev/null"), 0);
    assert_int_equal(output_open_log(&other, "hlog", "/dev/null"), 0);
    assert_int_equal(output_close(&one) | output_close(&other), 0);
}

/* RLIMIT_FSIZE would need a signal handler: uses a descriptor that cannot be written to. */
static int fail_to_end(struct output *o)
{
    const int read_only = open("/dev/null", O_RDONLY), kept = dup(o->fd);

    fputs("end", o->stream);
    assert_int_equal(dup2(read_only, o->fd), o->fd);
    (void)fflush(o->stream); /* C libraries differ in what it returns */
    assert_int_equal(o->error, EBADF);
    assert_int_equal(dup2(kept, o->fd), o->fd);
    close(read_only);
    close(kept);
    return output_close(o);
}

static void what_is_left_of_a_failed_document_is_the_old_one_and_of_a_log_its_begin(void **state)
{
    struct output o;
    char a[PATH_BYTES], temporary[PATH_BYTES];

    (void)state;
    put(path_of(a, "a"), "old");
    path_of(temporary, "a.tmp");
    assert_int_equal(output_open_document(&o, "json", a), 0);
    fputs("begin", o.stream);
    assert_int_equal(fflush(o.stream), 0);
    assert_int_equal(fail_to_end(&o), -1);
    assert_content(a, "old");
    assert_int_equal(access(temporary, F_OK), -1);
    assert_int_equal(output_open_log(&o, "hlog", a), 0);
    assert_int_equal(output_begin(&o), 0);
    fputs("begin", o.stream);
    assert_int_equal(output_flush(&o), 0);
    assert_int_equal(fail_to_end(&o), -1);
    assert_content(a, "begin");
}

/* --raw, for example, has no "-" of the user's. */
static void errors_name_stdout(void **state)
{
    struct output one, other;
    char *text;

    (void)state;
    fflush(stdout);
    log_set_stream(print_open());
    assert_int_equal(output_open_log(&one, "raw", "-"), 0);
    assert_int_equal(output_open_document(&other, "json", "-"), -1);
    output_say_lost(&one, EPIPE, "rows", true);
    assert_int_equal(fail_to_end(&one), -1);
    log_set_stream(NULL);
    text = print_close();
    assert_has(text, "--json: 'stdout' is also the file of --raw");
    assert_has(text, "--raw: cannot write 'stdout': Broken pipe; rows are lost\n");
    assert_has(text, "--raw: could not write 'stdout': Bad file descriptor\n");
    free(text);
}

static void a_failed_document_in_place_is_left_empty(void **state)
{
    struct output o;
    char a[PATH_BYTES], b[PATH_BYTES];

    (void)state;
    unlink(path_of(a, "a"));
    path_of(b, "b");
    assert_int_equal(symlink(a, b), 0); /* to nothing: written in place */
    assert_int_equal(output_open_document(&o, "json", b), 0);
    fputs("begin", o.stream);
    assert_int_equal(output_flush(&o), 0);
    assert_content(a, "begin");
    assert_int_equal(fail_to_end(&o), -1);
    assert_content(a, "");
    unlink(b);
}

static void a_failed_write_is_not_tried_again_with_the_next(void **state)
{
    struct output o;
    char a[PATH_BYTES];
    int kept, full;

    (void)state;
    assert_int_equal(output_open_log(&o, "hlog", path_of(a, "a")), 0);
    assert_int_equal(output_begin(&o), 0);
    kept = dup(o.fd);
    full = open("/dev/full", O_WRONLY);
    assert_int_equal(dup2(full, o.fd), o.fd);
    fputs("lost", o.stream);
    assert_int_equal(output_flush(&o), -1);
    assert_int_equal(dup2(kept, o.fd), o.fd);
    fputs("whole", o.stream);
    assert_int_equal(output_close(&o), 0);
    assert_content(a, "whole");
    close(kept);
    close(full);
}

static void an_output_is_found_by_its_files(void **state)
{
    struct output document, log;
    char a[PATH_BYTES], b[PATH_BYTES], c[PATH_BYTES], temporary[PATH_BYTES];

    (void)state;
    unlink(path_of(a, "a"));
    unlink(path_of(temporary, "a.tmp"));
    unlink(path_of(b, "b"));
    unlink(path_of(c, "c"));
    assert_int_equal(output_open_document(&document, "json", a), 0);
    assert_int_equal(output_open_log(&log, "hlog", b), 0);
    assert_ptr_equal(outputs_find(a), &document); /* which does not exist */
    assert_ptr_equal(outputs_find(temporary), &document);
    assert_ptr_equal(outputs_find(b), &log);
    assert_int_equal(symlink(b, c), 0);
    assert_ptr_equal(outputs_find(c), &log);
    assert_int_equal(unlink(c), 0);
    assert_null(outputs_find(c));
    assert_int_equal(output_close(&document) | output_close(&log), 0);
    assert_null(outputs_find(a));
    assert_null(outputs_find(b));
    unlink(b);
}

static void an_input_is_not_overwritten(void **state)
{
    struct output o;
    char a[PATH_BYTES], link[PATH_BYTES], other[PATH_BYTES], temporary[PATH_BYTES];

    (void)state;
    unlink(path_of(a, "a")); /* another test's */
    put(a, "input");
    assert_int_equal(symlink(a, path_of(link, "b")), 0);
    inputs_add(link);
    assert_int_equal(output_open_document(&o, "json", a), -1);
    assert_int_equal(output_open_log(&o, "hlog", link), -1);
    assert_content(a, "input");
    assert_int_equal(rename(a, path_of(other, "c")), 0);
    assert_int_equal(output_open_document(&o, "json", a), 0);
    output_abandon(&o);

    put(path_of(temporary, "a.tmp"), "input");
    inputs_add(temporary);
    assert_int_equal(output_open_document(&o, "json", a), -1);
    assert_content(temporary, "input");
    assert_int_equal(unlink(link), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_keeps_its_content_until_it_begins),
        cmocka_unit_test(a_document_is_the_old_one_until_the_new_one_is_complete),
        cmocka_unit_test(a_withdrawn_output_leaves_the_file_as_it_was),
        cmocka_unit_test(an_output_that_conflicts_leaves_no_file),
        cmocka_unit_test(a_document_without_text_is_not_written),
        cmocka_unit_test(one_file_is_one_output_whatever_its_names),
        cmocka_unit_test(a_file_that_does_not_exist_is_one_output_too),
        cmocka_unit_test(a_temporary_file_is_no_other_output),
        cmocka_unit_test(devices_may_be_shared),
        cmocka_unit_test(what_is_left_of_a_failed_document_is_the_old_one_and_of_a_log_its_begin),
        cmocka_unit_test(errors_name_stdout),
        cmocka_unit_test(a_failed_document_in_place_is_left_empty),
        cmocka_unit_test(a_failed_write_is_not_tried_again_with_the_next),
        cmocka_unit_test(an_output_is_found_by_its_files),
        cmocka_unit_test(an_input_is_not_overwritten),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_files);
}
