/* SPDX-License-Identifier: MIT
 * test_rows_full_ring: readers that are slower than the rows come. */
#include "rows_steps.h"

#include <poll.h>
#include <sched.h>
#include <stdatomic.h>

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
        assert_false(result.timed_out);
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
static void workers_wait_for_a_reader_only_on_request(void **state)
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

/* Without a reader, the worker waits until it is told to stop waiting. */
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

/* Without the flag, closing would take ROWS_TIMEOUT_NS. */
static void a_hurry_shortens_the_timeout_of_a_reader(void **state)
{
    atomic_int hurry;
    struct rows_options options = {.n_rings = 1, .ring_rows = 1024, .one_in = 1, .hurry = &hurry};
    struct rows_result result;
    struct rows *s;
    int ends[2];

    (void)state;
    atomic_init(&hurry, 1);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
    options.fd = ends[1];
    s = rows_open(&options);
    assert_non_null(s);
    rows_start(s);
    push_rows(s, 0, 0, 1000);
    rows_close(s, &result);
    assert_true(result.timed_out);
    assert_int_equal(result.error, 0);
    assert_sums(&result, 500, 500);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(close(ends[1]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_ring_drops_rows_and_counts_them),
        cmocka_unit_test(workers_wait_for_a_reader_only_on_request),
        cmocka_unit_test(a_full_ring_can_wait_for_the_reader),
        cmocka_unit_test(waiting_ends_when_it_is_told_to),
        cmocka_unit_test(a_hurry_shortens_the_timeout_of_a_reader),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
