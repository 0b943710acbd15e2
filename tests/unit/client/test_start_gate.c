/* SPDX-License-Identifier: MIT
 * test_start_gate: when a gate opens, and how it is missed; what the result says of a start that
 * the run never reached.
 *
 * Linked with --wrap=clock_realtime_offset_ns. */
#include "client/start_gate.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "client/result.h"
#include "start_gate_steps.h"

#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
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

enum { UNREAD = 1 }; /* no bound of a clock: the kernel's are whole microseconds */

/* What came of a gate. */
struct passage {
    unsigned n_opened, n_missed;
    uint64_t begin_ns, opened_ns;
};

static struct passage passage;
static struct start_gate_settings at;
static struct client_start start;
static struct start_gate gate;
static struct event_base *base;
static char *said;
static size_t n_said;
static FILE *stream;

static void note_opened(void *arg, uint64_t begin_ns)
{
    struct passage *p = arg;

    p->n_opened++;
    p->begin_ns = begin_ns;
    p->opened_ns = clock_now_ns();
}

static void note_missed(void *arg)
{
    struct passage *p = arg;

    p->n_missed++;
}

static uint64_t now_epoch_ns(void)
{
    return clock_now_ns() + clock_realtime_offset_ns();
}

/* Settings that open at once; a test changes them before arrive(). */
static int make_gate(void **state)
{
    (void)state;
    at = (struct start_gate_settings){
        .at_epoch_ns = now_epoch_ns(), .late_max_ns = 1000 * UNITS_NS_PER_S, .quiet = true};
    passage = (struct passage){0};
    gate = (struct start_gate){.settings = &at,
                               .start = &start,
                               .opened = note_opened,
                               .missed = note_missed,
                               .arg = &passage};
    start_gate_init(&start);
    base = event_base_new();
    stream = open_memstream(&said, &n_said);
    log_set_stream(stream);
    return base != NULL && stream != NULL ? 0 : -1;
}

static int free_gate(void **state)
{
    (void)state;
    set_ns = 0;
    start_gate_close(&gate);
    log_set_stream(NULL);
    event_base_free(base);
    fclose(stream);
    free(said);
    return 0;
}

static void arrive(void)
{
    struct client_result connections = {
        .connections_requested = 5, .connections_half_open = 2, .connections_live = 4};

    tally_add(&connections.tally.connections.connected, 6);
    tally_add(&connections.tally.connections.proven, 3);
    start_gate_wait(&gate, base, &connections);
}

static const char *text_said(void)
{
    fflush(stream);
    return said;
}

static void assert_opened(void)
{
    assert_int_equal(passage.n_opened, 1);
    assert_int_equal(passage.n_missed, 0);
    assert_false(gate.waiting);
    assert_false(start.missed);
    assert_int_equal(event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0);
}

static void assert_missed(const char *text)
{
    assert_int_equal(passage.n_opened, 0);
    assert_int_equal(passage.n_missed, 1);
    assert_false(gate.waiting);
    assert_true(start.missed);
    assert_int_equal(event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0);
    assert_non_null(strstr(text_said(), text));
}

static void assert_waits(void)
{
    assert_int_equal(passage.n_opened + passage.n_missed, 0);
    assert_true(gate.waiting);
}

static void a_ready_file_of_an_earlier_run_is_removed(void **state)
{
    const struct start_files p = make_start_files();
    const struct start_gate_settings settings = {.file = p.start};

    (void)state;
    write_text(p.ready, "{}");
    write_text(p.start, "1\n");
    assert_int_equal(start_gate_prepare(&settings), 0);
    assert_int_equal(access(p.ready, F_OK), -1);
    assert_int_equal(access(p.new, F_OK), -1);
    assert_int_equal(access(p.start, F_OK), 0);
    assert_int_equal(mkdir(p.ready, 0700), 0); /* or a socket, that of --control */
    assert_int_equal(start_gate_prepare(&settings), -1);
    assert_non_null(strstr(text_said(), "/start.ready': File exists"));
    assert_int_equal(rmdir(p.ready), 0);
    remove_start_files(&p);
}

static void a_name_that_is_too_long_is_refused(void **state)
{
    char name[4096];

    (void)state;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    at.file = name;
    assert_int_equal(start_gate_prepare(&at), -1);
    arrive();
    assert_missed("--start-file: cannot write 'aaaa");
}

/* The schedule begins at the time itself. */
static void a_gate_opens_ahead_of_the_time(void **state)
{
    const uint64_t before_ns = clock_now_ns();

    (void)state;
    at.at_epoch_ns = now_epoch_ns() + 100 * UNITS_NS_PER_S;
    at.ahead_ns = 10 * UNITS_NS_PER_S;
    arrive();
    assert_waits();
    assert_int_equal(start.at_epoch_ns, at.at_epoch_ns);
    assert_in_range(start.margin_ns, 50 * UNITS_NS_PER_S, 100 * UNITS_NS_PER_S);
    start.clock.max_error_ns = UNREAD;
    set_ns = 50 * UNITS_NS_PER_S;
    event_base_loop(base, EVLOOP_ONCE);
    assert_waits();
    set_ns = 90 * UNITS_NS_PER_S;
    event_base_loop(base, EVLOOP_ONCE);
    assert_opened();
    assert_true(start.clock.max_error_ns != UNREAD);
    assert_true(passage.begin_ns + UNITS_NS_PER_S >= before_ns + 100 * UNITS_NS_PER_S);
}

static void a_time_that_has_passed_opens_it_unless_it_is_too_late(void **state)
{
    (void)state;
    at.at_epoch_ns -= 600 * UNITS_NS_PER_S;
    assert_false(start_gate_is_missed(&at));
    arrive();
    assert_opened();
    assert_true(passage.begin_ns + 600 * UNITS_NS_PER_S <= passage.opened_ns + UNITS_NS_PER_MS);
    assert_true(start.margin_ns <= -(int64_t)(600 * UNITS_NS_PER_S));
    at.late_max_ns = 600 * UNITS_NS_PER_S - 1;
    assert_true(start_gate_is_missed(&at));
    passage = (struct passage){0};
    arrive();
    assert_missed("the start was missed by 600 s (--late-max 600 s): nothing is sent");
}

static void an_unknown_time_is_not_missed(void **state)
{
    (void)state;
    at.at_epoch_ns = 0;
    at.late_max_ns = 0;
    assert_false(start_gate_is_missed(&at));
    at.at_epoch_ns = now_epoch_ns() + UNITS_NS_PER_S;
    assert_false(start_gate_is_missed(&at));
}

/* CLOCK_MONOTONIC has no such time. */
static void a_time_before_the_boot_is_missed_however_late_it_may_be(void **state)
{
    const uint64_t boot_ns = clock_realtime_offset_ns();

    (void)state;
    assert_true(start_gate_is_before_boot(boot_ns));
    assert_false(start_gate_is_before_boot(boot_ns + UNITS_NS_PER_S));
    at.at_epoch_ns = 1;
    at.late_max_ns = UINT64_MAX;
    arrive();
    assert_missed(" ago, before this machine was booted: nothing is sent");
}

static int lowest_free_fd(void)
{
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    close(fd);
    return fd;
}

static void a_file_has_the_time_when_it_ends_in_a_newline(void **state)
{
    const struct start_files p = make_start_files();
    const uint64_t at_s = now_epoch_ns() / UNITS_NS_PER_S - 1;
    const int fd = lowest_free_fd();
    char text[32];

    (void)state;
    at.at_epoch_ns = 0;
    at.file = p.start;
    arrive();
    assert_waits();
    assert_int_equal(start.at_epoch_ns, 0);
    snprintf(text, sizeof text, "%" PRIu64, at_s);
    write_text(p.start, text);
    event_base_loop(base, EVLOOP_ONCE);
    assert_waits();
    snprintf(text, sizeof text, "%" PRIu64 "\n", at_s);
    write_text(p.start, text);
    event_base_loop(base, EVLOOP_ONCE);
    assert_opened();
    assert_int_equal(start.at_epoch_ns, at_s * UNITS_NS_PER_S);
    assert_true(start.margin_ns <= -(int64_t)UNITS_NS_PER_S);
    assert_int_equal(lowest_free_fd(), fd);
    assert_string_equal(text_said(), "");
    remove_start_files(&p);
}

/* Without O_NONBLOCK, it would wait for a writer, and then for what that writes. */
static void a_fifo_has_the_time_once_it_is_written(void **state)
{
    const struct start_files p = make_start_files();
    int writer;

    (void)state;
    at.at_epoch_ns = 0;
    at.file = p.start;
    assert_int_equal(mkfifo(p.start, 0600), 0);
    arrive();
    assert_waits();
    writer = open(p.start, O_RDWR | O_CLOEXEC);
    assert_true(writer >= 0);
    event_base_loop(base, EVLOOP_ONCE);
    assert_waits();
    assert_string_equal(text_said(), "");
    assert_int_equal(write(writer, "1\n", 2), 2);
    event_base_loop(base, EVLOOP_ONCE);
    assert_missed("the start was missed by ");
    close(writer);
    remove_start_files(&p);
}

static void a_file_without_a_time_is_missed(void **state)
{
    const struct start_files p = make_start_files();

    (void)state;
    at.at_epoch_ns = 0;
    at.file = p.start;
    write_text(p.start, "soon\n");
    arrive();
    assert_missed("--start-file: invalid start time in '");
    remove_start_files(&p);
}

/* Its directory may be on a file server. */
static void a_file_that_cannot_be_read_is_named_once_and_tried_again(void **state)
{
    const struct start_files p = make_start_files();

    (void)state;
    at.at_epoch_ns = 0;
    at.file = p.start;
    assert_int_equal(symlink("start", p.start), 0);
    arrive();
    assert_waits();
    assert_non_null(strstr(text_said(), "--start-file: cannot read '"));
    assert_non_null(strstr(text_said(), "; trying again"));
    event_base_loop(base, EVLOOP_ONCE);
    assert_waits();
    assert_ptr_equal(strchr(text_said(), '\n'), strrchr(said, '\n'));
    assert_int_equal(unlink(p.start), 0);
    write_text(p.start, "1\n");
    event_base_loop(base, EVLOOP_ONCE);
    assert_missed("the start was missed by ");
    remove_start_files(&p);
}

static void the_ready_file_has_the_connections(void **state)
{
    static const char *const expected[] = {"\"asked\": 5", "\"connected\": 6", "\"proven\": 3",
                                           "\"half_open\": 2", "\"live\": 4"};
    const struct start_files p = make_start_files();
    char text[256];
    FILE *in;

    (void)state;
    at.file = p.start;
    at.quiet = false;
    arrive();
    assert_opened();
    assert_non_null(strstr(text_said(), "4 connections live, waiting for /tmp/"));
    assert_int_equal(access(p.new, F_OK), -1);
    in = fopen(p.ready, "r");
    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (strstr(text, expected[i]) == NULL)
            fail_msg("no %s in %s", expected[i], text);
    assert_string_equal(strrchr(text, '4'), "4\n}\n");
    remove_start_files(&p);
}

static void a_ready_file_that_cannot_be_written_is_a_missed_start(void **state)
{
    (void)state;
    at.file = "/nonexistent/start";
    arrive();
    assert_missed("--start-file: cannot write '/nonexistent/start.ready': No such file");
}

static void a_ready_file_that_cannot_be_renamed_is_removed(void **state)
{
    const struct start_files p = make_start_files();

    (void)state;
    at.file = p.start;
    assert_int_equal(mkdir(p.ready, 0700), 0);
    arrive();
    assert_missed("/start.ready': Is a directory");
    assert_int_equal(access(p.new, F_OK), -1);
    assert_int_equal(rmdir(p.ready), 0);
    remove_start_files(&p);
}

static void a_gate_that_is_closed_never_opens(void **state)
{
    (void)state;
    at.at_epoch_ns += 1000 * UNITS_NS_PER_S;
    at.quiet = false;
    start.clock.max_error_ns = UNREAD;
    arrive();
    assert_waits();
    assert_true(start.clock.max_error_ns != UNREAD);
    assert_non_null(strstr(text_said(), "4 connections live, waiting for the start"));
    start_gate_close(&gate);
    assert_false(gate.waiting);
    assert_int_equal(event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0);
    assert_int_equal(passage.n_opened + passage.n_missed, 0);
    assert_false(start.missed); /* the run was stopped before it could be */
}

/* Passes the gate after the clock was set by by_ns. */
static void pass_after_set(uint64_t by_ns)
{
    set_ns = by_ns;
    at.at_epoch_ns = now_epoch_ns();
    arrive();
    assert_opened();
}

static void a_clock_that_was_not_set_is_not_mentioned(void **state)
{
    (void)state;
    pass_after_set(0);
    assert_string_equal(text_said(), "");
}

/* The start is that of the new clock; logs, rows and the result go by the old one. */
static void a_clock_that_was_set_before_the_start_is_mentioned(void **state)
{
    (void)state;
    pass_after_set(10 * UNITS_NS_PER_S);
    assert_non_null(strstr(text_said(), "the clock was set forward by 10.0 s before the start"));
}

static void a_clock_that_was_set_back_is_mentioned(void **state)
{
    (void)state;
    pass_after_set(-(3 * UNITS_NS_PER_S));
    assert_non_null(strstr(text_said(), "the clock was set back by 3.00 s before the start"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_gate_only_the_clock_is_known),
        cmocka_unit_test_setup_teardown(a_ready_file_of_an_earlier_run_is_removed, make_gate,
                                        free_gate),
        cmocka_unit_test_setup_teardown(a_name_that_is_too_long_is_refused, make_gate, free_gate),
        cmocka_unit_test_setup_teardown(a_gate_opens_ahead_of_the_time, make_gate, free_gate),
        cmocka_unit_test_setup_teardown(a_time_that_has_passed_opens_it_unless_it_is_too_late,
                                        make_gate, free_gate),
        cmocka_unit_test_setup_teardown(an_unknown_time_is_not_missed, make_gate, free_gate),
        cmocka_unit_test_setup_teardown(a_time_before_the_boot_is_missed_however_late_it_may_be,
                                        make_gate, free_gate),
        cmocka_unit_test_setup_teardown(a_file_has_the_time_when_it_ends_in_a_newline, make_gate,
                                        free_gate),
        cmocka_unit_test_setup_teardown(a_fifo_has_the_time_once_it_is_written, make_gate,
                                        free_gate),
        cmocka_unit_test_setup_teardown(a_file_without_a_time_is_missed, make_gate, free_gate),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_read_is_named_once_and_tried_again,
                                        make_gate, free_gate),
        cmocka_unit_test_setup_teardown(the_ready_file_has_the_connections, make_gate, free_gate),
        cmocka_unit_test_setup_teardown(a_ready_file_that_cannot_be_renamed_is_removed, make_gate,
                                        free_gate),
        cmocka_unit_test_setup_teardown(a_ready_file_that_cannot_be_written_is_a_missed_start,
                                        make_gate, free_gate),
        cmocka_unit_test_setup_teardown(a_gate_that_is_closed_never_opens, make_gate, free_gate),
        cmocka_unit_test_setup_teardown(a_clock_that_was_not_set_is_not_mentioned, make_gate,
                                        free_gate),
        cmocka_unit_test_setup_teardown(a_clock_that_was_set_before_the_start_is_mentioned,
                                        make_gate, free_gate),
        cmocka_unit_test_setup_teardown(a_clock_that_was_set_back_is_mentioned, make_gate,
                                        free_gate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
