/* SPDX-License-Identifier: MIT
 * test_start_gate: what the result says of a start that the run never reached, and which start
 * files are refused. */
#include "client/start_gate.h"

#include "client/result.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* A directory with the files of --start-file, and one that has nothing to do with them. */
struct place {
    char directory[32], start[48], new[64], other[48];
};

static struct place make_place(void)
{
    struct place p = {.directory = "/tmp/test_start_gate_XXXXXX"};

    assert_non_null(mkdtemp(p.directory));
    snprintf(p.start, sizeof p.start, "%s/start", p.directory);
    snprintf(p.new, sizeof p.new, "%s.ready.new", p.start);
    snprintf(p.other, sizeof p.other, "%s/other", p.directory);
    return p;
}

static void remove_place(const struct place *p)
{
    (void)unlink(p->new);
    (void)unlink(p->other);
    assert_int_equal(rmdir(p->directory), 0);
}

/* In a directory that others may write to, one of them may have made it. */
static void a_link_in_place_of_the_ready_file_is_not_followed(void **state)
{
    const struct place p = make_place();
    const struct start_gate_settings settings = {.file = p.start};
    FILE *other = fopen(p.other, "w");
    struct stat status;

    (void)state;
    assert_non_null(other);
    fputs("other", other);
    assert_int_equal(fclose(other), 0);
    assert_int_equal(symlink(p.other, p.new), 0);
    assert_int_equal(start_gate_prepare(&settings), 0);
    assert_int_equal(stat(p.other, &status), 0);
    assert_int_equal(status.st_size, 5);
    remove_place(&p);
}

/* Without a reader, opening it would wait for one. */
static void a_fifo_in_place_of_the_ready_file_is_refused(void **state)
{
    const struct place p = make_place();
    const struct start_gate_settings settings = {.file = p.start};
    int reader;

    (void)state;
    assert_int_equal(mkfifo(p.new, 0600), 0);
    reader = open(p.new, O_RDONLY | O_NONBLOCK);
    assert_int_equal(start_gate_prepare(&settings), -1);
    close(reader);
    remove_place(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_gate_only_the_clock_is_known),
        cmocka_unit_test(a_directory_is_no_start_file),
        cmocka_unit_test(a_link_in_place_of_the_ready_file_is_not_followed),
        cmocka_unit_test(a_fifo_in_place_of_the_ready_file_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
