/* SPDX-License-Identifier: MIT
 * test_rows_output: slow readers, readers that go away, full files. */
#include "rows_steps.h"

#include "measure/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

/* Nobody reads at first: the pipe (4 KiB), the writer's buffer (about 20,000 rows) and the ring
 * fill up, and the rest of 100,000 rows is dropped.  What is read later is what was written. */
static void a_full_ring_drops_rows_and_counts_them(void **state)
{
    static const int flags[] = {O_CLOEXEC, O_CLOEXEC | O_NONBLOCK};

    (void)state;
    for (size_t i = 0; i < N_OF(flags); i++) {
        struct rows_result result;
        struct rows *s;
        struct reader r;
        pthread_t thread;
        int ends[2];

        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
        assert_int_equal(fcntl(ends[1], F_SETFL, flags[i] & O_NONBLOCK), 0);
        s = open_rows(ends[1], 1, 64, ROWS_DROP, 1);
        assert_non_null(s);
        push_rows(s, 0, 0, 100000);
        r = reader_of(ends[0]);
        assert_int_equal(pthread_create(&thread, NULL, read_all, &r), 0);
        rows_close(s, &result);
        assert_int_equal(close(ends[1]), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(result.error, 0);
        assert_false(result.out_of_patience);
        assert_sums(&result, 50000, 50000);
        assert_true(result.written[0] + result.written[1] >= 64);
        assert_true(result.dropped[0] + result.dropped[1] > 50000);
        assert_read_written(&r, &result);
        assert_int_equal(close(ends[0]), 0);
    }
}

/* How often this thread gave up its CPU to wait. */
static long n_waits(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_nvcsw;
}

/* Pushes 100,000 rows to a ring of n_ring while nobody reads.  Returns how often it waited. */
static long waits_without_reader(uint32_t n_ring)
{
    struct rows_result result;
    struct rows *s;
    long before;
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
    s = open_rows(ends[1], 1, n_ring, ROWS_DROP, 1);
    assert_non_null(s);
    before = n_waits();
    push_rows(s, 0, 0, 100000);
    before = n_waits() - before;
    assert_int_equal(close(ends[0]), 0);
    rows_close(s, &result);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(result.error, EPIPE);
    assert_sums(&result, 50000, 50000);
    return before;
}

/* Whether the ring fills up or not.  The first use of a page may wait for the kernel. */
static void nobody_waits_for_a_reader_unless_asked_to(void **state)
{
    (void)state;
    assert_in_range(waits_without_reader(1 << 17), 0, 5);
    assert_in_range(waits_without_reader(64), 0, 5);
}

/* Likewise with ROWS_BLOCK: the worker waits for the reader and no row is missing. */
static void a_full_ring_can_wait_for_the_reader(void **state)
{
    struct rows_result result;
    struct rows *s;
    struct reader r;
    pthread_t thread;
    uint64_t n_rows[2];
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
    s = open_rows(ends[1], 1, 64, ROWS_BLOCK, 1);
    assert_non_null(s);
    r = reader_of(ends[0]);
    assert_int_equal(pthread_create(&thread, NULL, read_all, &r), 0);
    push_rows(s, 0, 0, 100000);
    rows_close(s, &result);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(result.dropped[0] + result.dropped[1], 0);
    assert_sums(&result, 50000, 50000);
    check_text(r.text, r.n_bytes, n_rows);
    assert_int_equal(n_rows[0] + n_rows[1], 100000);
    free(r.text);
    assert_int_equal(close(ends[0]), 0);
}

struct unread {
    struct rows *rows;
    int fd;
};

static void *stop_waiting_once_full(void *arg)
{
    const struct unread *u = arg;
    struct pollfd full = {.fd = u->fd, .events = POLLOUT};

    while (poll(&full, 1, 0) > 0)
        sched_yield();
    rows_stop_waiting(u->rows);
    return NULL;
}

/* Nobody reads: the worker waits until it is told to stop waiting. */
static void waiting_ends_when_it_is_told_to(void **state)
{
    struct rows_result result;
    struct unread u;
    pthread_t thread;
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    u = (struct unread){open_rows(ends[1], 1, 64, ROWS_BLOCK, 1), ends[1]};
    assert_non_null(u.rows);
    assert_int_equal(pthread_create(&thread, NULL, stop_waiting_once_full, &u), 0);
    push_rows(u.rows, 0, 0, 200000);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(close(ends[0]), 0);
    rows_close(u.rows, &result);
    assert_true(result.dropped[0] + result.dropped[1] > 0);
    assert_sums(&result, 100000, 100000);
    assert_int_equal(close(ends[1]), 0);
}

/* Reads until this many rows have come. */
static void read_rows(int fd, unsigned n_rows)
{
    unsigned n_lines = 0;
    char byte;

    while (n_lines < n_rows + 1) {
        assert_int_equal(read(fd, &byte, 1), 1);
        n_lines += byte == '\n';
    }
}

static void a_reader_that_goes_away_stops_the_output_only(void **state)
{
    static const struct {
        uint32_t n_read, n_pushed;
    } cases[] = {{0, 0}, {0, 1}, {1, 2}, {10, 1000}, {51, 100000}};

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        const uint32_t n_read = cases[i].n_read, n_pushed = cases[i].n_pushed;
        struct rows_result result;
        struct rows *s;
        int ends[2];

        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        s = open_rows(ends[1], 1, 1024, ROWS_DROP, 1);
        assert_non_null(s);
        push_rows(s, 0, 0, n_read);
        read_rows(ends[0], n_read);
        assert_int_equal(close(ends[0]), 0);
        push_rows(s, 0, n_read, n_pushed);
        rows_close(s, &result);
        assert_int_equal(result.error, n_pushed > n_read ? EPIPE : 0);
        assert_false(result.out_of_patience);
        assert_sums(&result, (n_pushed + 1) / 2, n_pushed / 2);
        assert_int_equal(result.written[0], (n_read + 1) / 2);
        assert_int_equal(result.written[1], n_read / 2);
        assert_int_equal(close(ends[1]), 0);
    }
}

/* Without the flag, closing would take ROWS_PATIENCE_NS. */
static void a_hurry_ends_the_patience_with_a_reader(void **state)
{
    atomic_bool hurry;
    struct rows_options options = {.n_rings = 1, .ring_rows = 1024, .one_in = 1, .hurry = &hurry};
    struct rows_result result;
    struct rows *s;
    int ends[2];

    (void)state;
    atomic_init(&hurry, true);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
    options.fd = ends[1];
    s = rows_open(&options);
    assert_non_null(s);
    push_rows(s, 0, 0, 1000);
    rows_close(s, &result);
    assert_true(result.out_of_patience);
    assert_int_equal(result.error, 0);
    assert_sums(&result, 500, 500);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(close(ends[1]), 0);
}

static void a_descriptor_that_takes_nothing_is_an_error(void **state)
{
    static const struct {
        const char *path;
        int flags, error;
    } cases[] = {{"/dev/full", O_WRONLY, ENOSPC}, {"/dev/null", O_RDONLY, EBADF}};

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        const int fd = open(cases[i].path, cases[i].flags | O_CLOEXEC);
        struct rows_result result;
        struct rows *s;

        assert_true(fd >= 0);
        s = open_rows(fd, 2, 64, ROWS_DROP, 1);
        assert_non_null(s);
        push_rows(s, 0, 0, 1001);
        push_rows(s, 1, 0, 10);
        rows_close(s, &result);
        assert_int_equal(result.error, cases[i].error);
        assert_int_equal(result.written[0] + result.written[1], 0);
        assert_sums(&result, 506, 505);
        assert_int_equal(close(fd), 0);
    }
}

/* Returns the size of a file with the header and the first n rows. */
static rlim_t bytes_of_rows(uint32_t n)
{
    char row[ROWS_LINE_BYTES];
    rlim_t n_bytes = HEADER_BYTES;

    for (uint32_t i = 0; i < n; i++) {
        const struct rows_record sample = sample_of(0, i);

        n_bytes += rows_format(row, &sample, 0, OFFSET_NS);
    }
    return n_bytes;
}

/* A file limited to two rows and a part of the third. */
static void a_row_cut_off_counts_as_dropped(void **state)
{
    FILE *file = tmpfile();
    const rlim_t n_whole = bytes_of_rows(2);
    struct rows_result result;
    struct rlimit before, limit;
    struct rows *s;

    (void)state;
    assert_non_null(file);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){.rlim_cur = n_whole + 20, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    s = open_rows(fileno(file), 1, 1024, ROWS_DROP, 1);
    if (s != NULL) {
        push_rows(s, 0, 0, 100);
        rows_close(s, &result);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_non_null(s);
    assert_int_equal(result.error, EFBIG);
    assert_int_equal(result.written[0], 1);
    assert_int_equal(result.written[1], 1);
    assert_sums(&result, 50, 50);
    assert_int_equal(lseek(fileno(file), 0, SEEK_END), n_whole + 20);
    assert_int_equal(fclose(file), 0);
}

static void wait_for_failure(const struct rows *s)
{
    while (rows_error(s) == 0)
        sched_yield();
}

/* Two whole rows and a part of the third fit into the first file; from the next one on, rows are
 * written again. */
static void rows_are_written_again_when_resumed(void **state)
{
    FILE *file = tmpfile(), *next = tmpfile();
    const int fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
    struct reader r = reader_of(fileno(next));
    struct rows_result result;
    struct rlimit before, limit;
    struct rows *s;
    uint64_t n_rows[2];
    int error;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){.rlim_cur = bytes_of_rows(2) + 20, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    s = open_rows(fd, 1, 1024, ROWS_DROP, 1);
    assert_non_null(s);
    push_rows(s, 0, 0, 100);
    wait_for_failure(s);
    error = rows_error(s);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(error, EFBIG);
    assert_int_equal(write(fileno(next), ROWS_HEADER, HEADER_BYTES), HEADER_BYTES);
    assert_int_equal(dup2(fileno(next), fd), fd);
    rows_resume(s);
    assert_int_equal(rows_error(s), 0);
    push_rows(s, 0, 100, 200);
    rows_close(s, &result);
    assert_int_equal(result.error, EFBIG);
    assert_sums(&result, 100, 100);
    assert_true(result.dropped[0] + result.dropped[1] > 0);
    assert_int_equal(lseek(fileno(file), 0, SEEK_END), bytes_of_rows(2) + 20);
    assert_int_equal(lseek(fileno(next), 0, SEEK_SET), 0);
    read_all(&r);
    check_text(r.text, r.n_bytes, n_rows);
    assert_int_equal(n_rows[0], result.written[0] - 1);
    assert_int_equal(n_rows[1], result.written[1] - 1);
    assert_true(n_rows[0] + n_rows[1] >= 100);
    free(r.text);
    assert_int_equal(close(fd), 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(fclose(next), 0);
}

/* The disk is still full. */
static void rows_resumed_too_early_stop_again(void **state)
{
    const int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct rows_result result;
    struct rows *s;

    (void)state;
    assert_true(fd >= 0);
    s = open_rows(fd, 1, 1024, ROWS_DROP, 1);
    assert_non_null(s);
    wait_for_failure(s); /* of the header */
    rows_resume(s);
    push_rows(s, 0, 0, 10);
    wait_for_failure(s);
    rows_close(s, &result);
    assert_int_equal(result.error, ENOSPC);
    assert_int_equal(result.written[0] + result.written[1], 0);
    assert_sums(&result, 5, 5);
    assert_int_equal(close(fd), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_ring_drops_rows_and_counts_them),
        cmocka_unit_test(nobody_waits_for_a_reader_unless_asked_to),
        cmocka_unit_test(a_full_ring_can_wait_for_the_reader),
        cmocka_unit_test(waiting_ends_when_it_is_told_to),
        cmocka_unit_test(a_reader_that_goes_away_stops_the_output_only),
        cmocka_unit_test(a_hurry_ends_the_patience_with_a_reader),
        cmocka_unit_test(a_descriptor_that_takes_nothing_is_an_error),
        cmocka_unit_test(a_row_cut_off_counts_as_dropped),
        cmocka_unit_test(rows_are_written_again_when_resumed),
        cmocka_unit_test(rows_resumed_too_early_stop_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
