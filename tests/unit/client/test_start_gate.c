/* SPDX-License-Identifier: MIT
 * test_start_gate: what the result says of a start that the run never reached, and which start
 * files are refused.
 *
 * Linked with --wrap=clock_realtime_offset_ns. */
#include "client/start_gate.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "client/result.h"

#include <event2/event.h>
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

static uint64_t set_ns; /* how far the clock was set forward, modulo 2^64 */

uint64_t __real_clock_realtime_offset_ns(void);
uint64_t __wrap_clock_realtime_offset_ns(void);

uint64_t __wrap_clock_realtime_offset_ns(void)
{
    return __real_clock_realtime_offset_ns() + set_ns;
}

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

static void ignore_begin(void *arg, uint64_t begin_ns)
{
    (void)arg;
    (void)begin_ns;
}

/* Passes the gate after the clock was set by by_ns.  Returns what is said, to be freed. */
static char *pass_after_set(uint64_t by_ns)
{
    struct start_gate_settings settings = {.late_max_ns = 1000 * UNITS_NS_PER_S, .quiet = true};
    const struct client_result no_connections = {0};
    struct client_start start;
    struct start_gate gate = {.settings = &settings, .start = &start, .opened = ignore_begin};
    struct event_base *base = event_base_new();
    char *said = NULL;
    size_t n_bytes;
    FILE *stream = open_memstream(&said, &n_bytes);

    assert_non_null(base);
    assert_non_null(stream);
    set_ns = 0;
    start_gate_init(&start);
    set_ns = by_ns;
    settings.at_epoch_ns = clock_now_ns() + clock_realtime_offset_ns();
    log_set_stream(stream);
    start_gate_wait(&gate, base, &no_connections);
    log_set_stream(NULL);
    set_ns = 0;
    event_base_free(base);
    assert_false(gate.waiting);
    assert_int_equal(fclose(stream), 0);
    return said;
}

static void assert_said(uint64_t by_ns, const char *text)
{
    char *said = pass_after_set(by_ns);

    assert_non_null(strstr(said, text));
    free(said);
}

/* The start is that of the new clock; logs, rows and the result go by the old one. */
static void a_clock_that_was_set_before_the_start_is_mentioned(void **state)
{
    char *said = pass_after_set(0);

    (void)state;
    assert_string_equal(said, "");
    free(said);
    assert_said(10 * UNITS_NS_PER_S, "the clock was set forward by 10.0 s before the start");
    assert_said(-(3 * UNITS_NS_PER_S), "the clock was set back by 3.00 s before the start");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_gate_only_the_clock_is_known),
        cmocka_unit_test(a_clock_that_was_set_before_the_start_is_mentioned),
        cmocka_unit_test(a_directory_is_no_start_file),
        cmocka_unit_test(a_link_in_place_of_the_ready_file_is_not_followed),
        cmocka_unit_test(a_fifo_in_place_of_the_ready_file_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
