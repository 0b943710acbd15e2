/* SPDX-License-Identifier: MIT
 * test_output_unread: outputs whose readers do not read, or are gone.  Waiting for readers is
 * tested with the programs (tests/e2e/unread_outputs.py). */
#include "base/output.h"

#include "output_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A log that is a FIFO, and its reading end. */
static int open_fifo(struct output *o, char *path)
{
    int reading;

    unlink(path_of(path, "a"));
    assert_int_equal(mkfifo(path, 0600), 0);
    reading = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reading >= 0);
    assert_int_equal(output_open_log(o, "hlog", path), 0);
    return reading;
}

/* Puts lines of one page each. */
static void put_lines(struct output *o, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char *line = malloc(PIPE_BUF);

        assert_non_null(line);
        memset(line, 'a' + (int)(i % 26), PIPE_BUF - 1);
        line[PIPE_BUF - 1] = '\n';
        output_put(o, line, PIPE_BUF);
    }
}

/* Reads lines of one page, as long as there are any; each is the successor of the one before. */
static unsigned read_lines(int fd, unsigned n)
{
    char line[PIPE_BUF];

    while (read(fd, line, sizeof line) == sizeof line) {
        assert_int_equal(line[0], 'a' + (int)(n % 26));
        assert_int_equal(line[PIPE_BUF - 1], '\n');
        n++;
    }
    return n;
}

static void text_that_nobody_reads_is_kept_and_written_later(void **state)
{
    enum { N = 100 };
    struct output o;
    char a[PATH_BYTES];
    const int reading = open_fifo(&o, a);
    unsigned n = 0;

    (void)state;
    put_lines(&o, N); /* more than fits into the pipe */
    assert_false(output_put_rest(&o));
    while (!output_put_rest(&o))
        n = read_lines(reading, n);
    assert_int_equal(read_lines(reading, n), N);
    assert_int_equal(output_close(&o), 0);
    close(reading);
}

/* Reads until the end.  Returns the number of lines that are the successor of the one before. */
static void *count_lines_in_order(void *fd)
{
    char line[PIPE_BUF];
    uintptr_t n = 0, n_in_order = 0;

    (void)fcntl(*(int *)fd, F_SETFL, 0);
    for (; read(*(int *)fd, line, sizeof line) == sizeof line; n++)
        n_in_order += line[0] == 'a' + (int)(n % 26);
    return (void *)n_in_order;
}

static void stream_follows_what_was_put(void **state)
{
    enum { N = 104 }; /* more than fit into the pipe, or the stream's buffer */
    struct output o;
    char a[PATH_BYTES], line[PIPE_BUF];
    int reading = open_fifo(&o, a);
    pthread_t reader;
    void *n;

    (void)state;
    put_lines(&o, N);
    assert_false(output_put_rest(&o));
    assert_int_equal(pthread_create(&reader, NULL, count_lines_in_order, &reading), 0);
    for (unsigned i = 0; i < N; i++) {
        memset(line, 'a' + (int)(i % 26), PIPE_BUF);
        assert_int_equal(fwrite(line, 1, PIPE_BUF, o.stream), PIPE_BUF);
    }
    assert_int_equal(output_close(&o), 0);
    assert_int_equal(pthread_join(reader, &n), 0);
    assert_int_equal((uintptr_t)n, 2 * N);
    close(reading);
}

static void lines_beyond_what_is_kept_are_lost_and_counted(void **state)
{
    enum { N_LOST = 7 };
    struct output o;
    char a[PATH_BYTES];
    const int reading = open_fifo(&o, a);
    unsigned n_put = 0, n = 0;

    (void)state;
    for (; o.backlog.n_lines_lost == 0; n_put++)
        put_lines(&o, 1);
    put_lines(&o, N_LOST - 1);
    assert_in_range(o.backlog.n_bytes - o.backlog.n_taken, BACKLOG_BYTES, BACKLOG_BYTES + PIPE_BUF);
    assert_int_equal(o.backlog.n_lines_lost, N_LOST);
    for (; n < n_put - 1; n++) { /* what was put before is whole */
        char line[PIPE_BUF];

        (void)output_put_rest(&o);
        assert_int_equal(read(reading, line, sizeof line), sizeof line);
    }
    assert_true(output_put_rest(&o));
    assert_int_equal(output_close(&o), -1); /* says it */
    close(reading);
}

static void a_reader_that_is_gone_is_an_error_and_all_lines_are_lost(void **state)
{
    struct output o;
    char a[PATH_BYTES];
    const int reading = open_fifo(&o, a);

    (void)state;
    close(reading);
    put_lines(&o, 3);
    assert_int_equal(o.error, EPIPE);
    assert_int_equal(o.backlog.n_lines_lost, 3);
    assert_int_equal(output_close(&o), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_that_nobody_reads_is_kept_and_written_later),
        cmocka_unit_test(stream_follows_what_was_put),
        cmocka_unit_test(lines_beyond_what_is_kept_are_lost_and_counted),
        cmocka_unit_test(a_reader_that_is_gone_is_an_error_and_all_lines_are_lost),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, make_directory, remove_files);
}
