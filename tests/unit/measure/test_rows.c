/* SPDX-License-Identifier: MIT
 * test_rows: rows as text; what is written and what is dropped always adds up to what was
 * pushed. */
#include "measure/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))
#define OFFSET_NS   1700000000000000000ull

enum { HEADER_BYTES = sizeof ROWS_HEADER - 1, PER_RING = 1000000, FILE_BYTES = 8 << 20 };

/* Row number `sequence` of a ring: the connection tells both; even ones are Q, odd ones A. */
static struct rows_record sample_of(uint32_t ring, uint32_t sequence)
{
    return (struct rows_record){
        .time_ns = 1000000007ull * sequence,
        .lag_ns = 1001ull * sequence,
        .span_ns = 123456 + sequence,
        .connection = ring * PER_RING + sequence,
        .id = (uint16_t)sequence,
        .type = sequence % 2 == 0 ? 'Q' : 'A',
    };
}

static struct rows *open_rows(int fd, uint32_t n_rings, uint32_t ring_rows, int when_full,
                              uint64_t one_in)
{
    const struct rows_options options = {.fd = fd,
                                         .n_rings = n_rings,
                                         .ring_rows = ring_rows,
                                         .realtime_offset_ns = OFFSET_NS,
                                         .when_full = when_full,
                                         .one_in = one_in};

    return rows_open(&options);
}

static void push_rows(struct rows *s, uint32_t ring, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const struct rows_record sample = sample_of(ring, i);

        rows_push(s, ring, &sample);
    }
}

/* The text has to be the header and whole rows as pushed, each ring's in their order.  Counts them.
 */
static void check_text(const char *text, size_t n_bytes, uint64_t n_rows[2])
{
    const char *end = text + n_bytes, *next, *column;
    int64_t last[2] = {-1, -1};

    n_rows[0] = n_rows[1] = 0;
    assert_true(n_bytes >= HEADER_BYTES);
    assert_memory_equal(text, ROWS_HEADER, HEADER_BYTES);
    for (text += HEADER_BYTES; text < end; text = next) {
        char row[ROWS_LINE_BYTES];
        unsigned connection, n_expected;
        struct rows_record sample;

        next = memchr(text, '\n', (size_t)(end - text));
        assert_non_null(next);
        next++;
        column = memchr(text + 2, ',', (size_t)(next - text) - 2); /* not sscanf: it takes strlen */
        assert_non_null(column);
        connection = (unsigned)strtoul(column + 1, NULL, 10);
        assert_true(connection / PER_RING < 2);
        assert_true(connection % PER_RING > last[connection / PER_RING]);
        last[connection / PER_RING] = connection % PER_RING;
        sample = sample_of(connection / PER_RING, connection % PER_RING);
        n_expected = rows_format(row, &sample, connection / PER_RING, OFFSET_NS);
        assert_int_equal(next - text, n_expected);
        assert_memory_equal(text, row, n_expected);
        n_rows[sample.type == 'A']++;
    }
}

/* All that can be read from a descriptor, in a thread of its own or not. */
struct reader {
    int fd;
    char *text;
    size_t n_bytes;
};

static void *read_all(void *arg)
{
    struct reader *r = arg;
    ssize_t n = 1;

    while (n > 0 && r->n_bytes < FILE_BYTES) {
        n = read(r->fd, r->text + r->n_bytes, FILE_BYTES - r->n_bytes);
        r->n_bytes += n > 0 ? (size_t)n : 0;
    }
    return NULL;
}

static struct reader reader_of(int fd)
{
    struct reader r = {.fd = fd, .text = calloc(1, FILE_BYTES + 1)};

    assert_non_null(r.text);
    return r;
}

static void assert_sums(const struct rows_result *result, uint64_t n_questions, uint64_t n_answers)
{
    assert_int_equal(result->written[0] + result->dropped[0], n_questions);
    assert_int_equal(result->written[1] + result->dropped[1], n_answers);
}

static void rows_have_exactly_the_described_text(void **state)
{
    static const struct {
        struct rows_record sample;
        uint32_t ring;
        uint64_t offset_ns;
        const char *expected;
    } cases[] = {
        {{0, 0, 0, 0, 0, 'Q', 0}, 0, 0, "Q,0.000000000,0,0,0,0,,,0.000\n"},
        {{0, 0, 0, 0, 0, 'A', 0}, 3, 0, "A,0.000000000,0,0,,,0,0.000,0.000\n"},
        {{5, 999, 1999, 7, 9, 'Q', 0}, 3, OFFSET_NS, "Q,1700000000.000000005,7,9,3,1,,,0.999\n"},
        {{5, 999, 1999, 7, 9, 'A', 0},
         3,
         OFFSET_NS,
         "A,1700000000.000000005,7,9,,,1,2.998,0.999\n"},
        {{999999999, 1000, 999, 10, 10, 'A', 0}, 0, 1, "A,1.000000000,10,10,,,0,1.999,1.000\n"},
        {{5, 1500, (uint64_t)-2500, 7, 9, 'A', 0},
         3,
         OFFSET_NS,
         "A,1700000000.000000005,7,9,,,-2,-1.000,1.500\n"},
        {{12345678901, 1234567, 89012345, 100000, 65535, 'Q', 0},
         15,
         1000000000,
         "Q,13.345678901,100000,65535,15,89012,,,1234.567\n"},
        {{12345678901, 1234567, 89012345, UINT32_MAX, 65535, 'A', 0},
         15,
         1000000000,
         "A,13.345678901,4294967295,65535,,,89012,90246.912,1234.567\n"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        char row[ROWS_LINE_BYTES + 1];
        const unsigned n = rows_format(row, &cases[i].sample, cases[i].ring, cases[i].offset_ns);

        assert_in_range(n, 1, ROWS_LINE_BYTES);
        row[n] = '\0';
        assert_string_equal(row, cases[i].expected);
    }
}

static void no_row_is_longer_than_its_room(void **state)
{
    static const char types[] = {'Q', 'A'};

    (void)state;
    for (size_t i = 0; i < N_OF(types); i++) {
        const struct rows_record longest = {UINT64_MAX, UINT64_MAX / 2, UINT64_MAX / 2,
                                            UINT32_MAX, UINT16_MAX,     (uint8_t)types[i],
                                            0};
        char row[ROWS_LINE_BYTES];
        const unsigned n = rows_format(row, &longest, UINT32_MAX, 0);
        unsigned n_commas = 0;

        assert_in_range(n, 80, ROWS_LINE_BYTES);
        for (unsigned k = 0; k < n; k++)
            n_commas += row[k] == ',';
        assert_int_equal(n_commas, 8);
        assert_int_equal(row[n - 1], '\n');
    }
}

static void a_file_gets_the_header_and_all_rows(void **state)
{
    static const uint32_t n_pushed[][2] = {{0, 0}, {1, 0}, {0, 2}, {10001, 16000}, {16384, 16384}};

    (void)state;
    for (size_t i = 0; i < N_OF(n_pushed); i++) {
        FILE *file = tmpfile();
        struct rows_result result;
        struct rows *s;
        struct reader r;
        uint64_t n_rows[2];

        assert_non_null(file);
        s = open_rows(fileno(file), 2, 16384, ROWS_DROP, 1);
        assert_non_null(s);
        for (uint32_t ring = 0; ring < 2; ring++)
            push_rows(s, ring, 0, n_pushed[i][ring]);
        rows_close(s, &result);
        assert_int_equal(result.error, 0);
        assert_false(result.out_of_patience);
        assert_int_equal(result.dropped[0] + result.dropped[1], 0);
        assert_int_equal(result.written[0], (n_pushed[i][0] + 1) / 2 + (n_pushed[i][1] + 1) / 2);
        assert_int_equal(result.written[1], n_pushed[i][0] / 2 + n_pushed[i][1] / 2);
        assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0); /* still open: it is not theirs */
        r = reader_of(fileno(file));
        read_all(&r);
        check_text(r.text, r.n_bytes, n_rows);
        assert_int_equal(n_rows[0], result.written[0]);
        assert_int_equal(n_rows[1], result.written[1]);
        free(r.text);
        assert_int_equal(fclose(file), 0);
    }
}

struct producer {
    struct rows *rows;
    uint32_t ring;
};

static void *produce(void *arg)
{
    const struct producer *p = arg;

    push_rows(p->rows, p->ring, 0, 50000);
    return NULL;
}

static void workers_push_at_the_same_time_as_the_writer_takes(void **state)
{
    FILE *file = tmpfile();
    struct rows_result result;
    struct producer producers[2];
    pthread_t threads[2];
    struct rows *s;
    struct reader r;
    uint64_t n_rows[2];

    (void)state;
    assert_non_null(file);
    s = open_rows(fileno(file), 2, 1024, ROWS_DROP, 1);
    assert_non_null(s);
    for (uint32_t i = 0; i < 2; i++) {
        producers[i] = (struct producer){s, i};
        assert_int_equal(pthread_create(&threads[i], NULL, produce, &producers[i]), 0);
    }
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    rows_close(s, &result);
    assert_int_equal(result.error, 0);
    assert_sums(&result, 50000, 50000);
    assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
    r = reader_of(fileno(file));
    read_all(&r);
    check_text(r.text, r.n_bytes, n_rows);
    assert_int_equal(n_rows[0], result.written[0]);
    assert_int_equal(n_rows[1], result.written[1]);
    free(r.text);
    assert_int_equal(fclose(file), 0);
}

/* How many rows one ring is ahead of the other, at most, anywhere in the text. */
static int64_t greatest_lead(const char *text, size_t n_bytes)
{
    const char *end = text + n_bytes, *row = text + HEADER_BYTES;
    int64_t lead = 0, greatest = 0;

    for (; row < end; row = (const char *)memchr(row, '\n', (size_t)(end - row)) + 1) {
        const char *column = memchr(row + 2, ',', (size_t)(end - row) - 2);

        lead += strtoul(column + 1, NULL, 10) < PER_RING ? 1 : -1;
        if (llabs(lead) > greatest)
            greatest = llabs(lead);
    }
    return greatest;
}

/* The reader comes late: several buffers of rows wait in both rings then. */
static void a_slow_reader_gets_the_rows_of_all_rings_in_turn(void **state)
{
    enum { N_ROWS = 60000 };
    struct rows_result result;
    struct rows *s;
    struct reader r;
    pthread_t thread;
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    s = open_rows(ends[1], 2, 65536, ROWS_DROP, 1);
    assert_non_null(s);
    for (uint32_t i = 0; i < N_ROWS; i++) {
        push_rows(s, 0, i, i + 1);
        push_rows(s, 1, i, i + 1);
    }
    r = reader_of(ends[0]);
    assert_int_equal(pthread_create(&thread, NULL, read_all, &r), 0);
    rows_close(s, &result);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_sums(&result, N_ROWS, N_ROWS);
    assert_int_equal(result.dropped[0] + result.dropped[1], 0);
    assert_in_range(greatest_lead(r.text, r.n_bytes), 1, 2000); /* a buffer is some 15,000 rows */
    free(r.text);
    assert_int_equal(close(ends[0]), 0);
}

/* Nobody reads at first: the pipe (4 KiB) and the writer's buffer (some 20,000 rows) fill, then the
 * ring, and the rest of 100,000 rows is dropped.  What is read afterwards is what was written. */
static void a_full_ring_drops_rows_and_counts_them(void **state)
{
    static const int flags[] = {O_CLOEXEC, O_CLOEXEC | O_NONBLOCK};

    (void)state;
    for (size_t i = 0; i < N_OF(flags); i++) {
        struct rows_result result;
        struct rows *s;
        struct reader r;
        pthread_t thread;
        uint64_t n_rows[2];
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
        check_text(r.text, r.n_bytes, n_rows);
        assert_int_equal(n_rows[0], result.written[0]);
        assert_int_equal(n_rows[1], result.written[1]);
        free(r.text);
        assert_int_equal(close(ends[0]), 0);
    }
}

/* The same with ROWS_BLOCK: the worker waits for the reader, no row is missing. */
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

static void *stop_waiting_soon(void *arg)
{
    const struct timespec soon = {.tv_nsec = 20000000};

    nanosleep(&soon, NULL);
    rows_stop_waiting(arg);
    return NULL;
}

/* Nobody reads, and the worker would wait for ever: until it is told not to. */
static void waiting_ends_when_it_is_told_to(void **state)
{
    struct rows_result result;
    struct rows *s;
    pthread_t thread;
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    s = open_rows(ends[1], 1, 64, ROWS_BLOCK, 1);
    assert_non_null(s);
    assert_int_equal(pthread_create(&thread, NULL, stop_waiting_soon, s), 0);
    push_rows(s, 0, 0, 200000);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(close(ends[0]), 0);
    rows_close(s, &result);
    assert_true(result.dropped[0] + result.dropped[1] > 0);
    assert_sums(&result, 100000, 100000);
    assert_int_equal(close(ends[1]), 0);
}

/* Reads until so many rows have come. */
static void read_rows(int fd, unsigned n_rows)
{
    unsigned n_lines = 0;
    char byte;

    while (n_lines < n_rows + 1) {
        assert_int_equal(read(fd, &byte, 1), 1);
        n_lines += byte == '\n';
    }
}

/* Both rows of a query or none, by a hash: nearly one in ten, and all others counted. */
static void a_sample_has_both_rows_of_a_query_or_none(void **state)
{
    enum { QUERIES = 10000, ONE_IN = 10 };
    FILE *file = tmpfile();
    struct rows_result result;
    struct rows *s;

    (void)state;
    assert_non_null(file);
    s = open_rows(fileno(file), 1, 32768, ROWS_DROP, ONE_IN);
    assert_non_null(s);
    for (uint32_t i = 0; i < 2 * QUERIES; i++) {
        const struct rows_record sample = {
            .connection = i / 2 % 100, .id = (uint16_t)(i / 200), .type = i % 2 == 0 ? 'Q' : 'A'};

        rows_push(s, 0, &sample);
    }
    rows_close(s, &result);
    assert_in_range(result.written[0], QUERIES / ONE_IN * 8 / 10, QUERIES / ONE_IN * 12 / 10);
    for (int kind = 0; kind < 2; kind++) {
        assert_int_equal(result.written[kind], result.written[0]);
        assert_int_equal(result.written[kind] + result.left_out[kind], QUERIES);
    }
    assert_int_equal(fclose(file), 0);
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

/* Without the hurry that is told apart by ROWS_PATIENCE_NS. */
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

/* A file that may not become larger than two rows and a part of the third. */
static void a_row_cut_off_counts_as_dropped(void **state)
{
    FILE *file = tmpfile();
    char row[ROWS_LINE_BYTES];
    struct rows_result result;
    struct rlimit before, limit;
    struct rows *s;
    rlim_t n_whole = HEADER_BYTES;

    (void)state;
    assert_non_null(file);
    for (uint32_t i = 0; i < 2; i++) {
        const struct rows_record sample = sample_of(0, i);

        n_whole += rows_format(row, &sample, 0, OFFSET_NS);
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_exactly_the_described_text),
        cmocka_unit_test(no_row_is_longer_than_its_room),
        cmocka_unit_test(a_file_gets_the_header_and_all_rows),
        cmocka_unit_test(workers_push_at_the_same_time_as_the_writer_takes),
        cmocka_unit_test(a_slow_reader_gets_the_rows_of_all_rings_in_turn),
        cmocka_unit_test(a_full_ring_drops_rows_and_counts_them),
        cmocka_unit_test(a_full_ring_can_wait_for_the_reader),
        cmocka_unit_test(waiting_ends_when_it_is_told_to),
        cmocka_unit_test(a_sample_has_both_rows_of_a_query_or_none),
        cmocka_unit_test(a_reader_that_goes_away_stops_the_output_only),
        cmocka_unit_test(a_hurry_ends_the_patience_with_a_reader),
        cmocka_unit_test(a_descriptor_that_takes_nothing_is_an_error),
        cmocka_unit_test(a_row_cut_off_counts_as_dropped),
    };

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
