/* SPDX-License-Identifier: MIT
 * test_rows_failure: readers that go away, full files, and rows after that. */
#include "rows_steps.h"

#include <sched.h>

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
        assert_false(result.timed_out);
        assert_sums(&result, (n_pushed + 1) / 2, n_pushed / 2);
        assert_int_equal(result.written[0], (n_read + 1) / 2);
        assert_int_equal(result.written[1], n_read / 2);
        assert_int_equal(close(ends[1]), 0);
    }
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
static void a_partial_row_counts_as_dropped(void **state)
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
        cmocka_unit_test(a_reader_that_goes_away_stops_the_output_only),
        cmocka_unit_test(a_descriptor_that_takes_nothing_is_an_error),
        cmocka_unit_test(a_partial_row_counts_as_dropped),
        cmocka_unit_test(rows_are_written_again_when_resumed),
        cmocka_unit_test(rows_resumed_too_early_stop_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
