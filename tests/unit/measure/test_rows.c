/* SPDX-License-Identifier: MIT
 * test_rows: rows of several workers arrive complete and in order. */
#include "rows_steps.h"

#include "measure/rows.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void a_file_gets_the_header_and_all_rows(void **state)
{
    static const uint32_t n_pushed[][2] = {{0, 0}, {1, 0}, {0, 2}, {10001, 16000}, {16384, 16384}};

    (void)state;
    for (size_t i = 0; i < N_OF(n_pushed); i++) {
        FILE *file = tmpfile();
        struct rows_result result;
        struct rows *s;
        struct reader r;

        assert_non_null(file);
        s = open_rows(fileno(file), 2, 16384, ROWS_DROP, 1);
        assert_non_null(s);
        for (uint32_t ring = 0; ring < 2; ring++)
            push_rows(s, ring, 0, n_pushed[i][ring]);
        rows_close(s, &result);
        assert_int_equal(result.error, 0);
        assert_false(result.timed_out);
        assert_int_equal(result.dropped[0] + result.dropped[1], 0);
        assert_int_equal(result.written[0], (n_pushed[i][0] + 1) / 2 + (n_pushed[i][1] + 1) / 2);
        assert_int_equal(result.written[1], n_pushed[i][0] / 2 + n_pushed[i][1] / 2);
        /* Still open: owned by the caller. */
        assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
        r = reader_of(fileno(file));
        read_all(&r);
        assert_read_written(&r, &result);
        assert_int_equal(fclose(file), 0);
    }
}

static void nothing_is_written_before_the_start(void **state)
{
    FILE *file = tmpfile();
    struct rows_options options = {.n_rings = 1, .ring_rows = 1024, .one_in = 1};
    struct rows_result result;
    struct rows *s;

    (void)state;
    assert_non_null(file);
    options.fd = fileno(file);
    s = rows_open(&options);
    assert_non_null(s);
    rows_close(s, &result);
    assert_int_equal(result.error, 0);
    assert_int_equal(lseek(fileno(file), 0, SEEK_END), 0);
    assert_int_equal(fclose(file), 0);
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
    assert_read_written(&r, &result);
    assert_int_equal(fclose(file), 0);
}

/* Returns by how many rows one ring was ahead of the other, at most, anywhere in the text. */
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

/* The reader starts late: by then several buffers of rows wait in both rings. */
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

enum { QUERIES = 10000, ONE_IN = 10 };

/* The rows of a query in a schedule that begins at begin_ns, with a lag and an answer. */
static void push_query(struct rows *s, uint64_t begin_ns, uint32_t i, uint32_t connection,
                       uint16_t id)
{
    const uint64_t due_ns = begin_ns + 1000003ull * i;
    const struct rows_record question = {.time_ns = due_ns + i % 7,
                                         .lag_ns = i % 7,
                                         .span_ns = i, /* its gap */
                                         .connection = connection,
                                         .id = id,
                                         .type = 'Q'};
    struct rows_record answer = question;

    answer.span_ns = 5000 + i;
    answer.time_ns += answer.span_ns;
    answer.type = 'A';
    rows_push(s, 0, &question);
    rows_push(s, 0, &answer);
}

/* Writes about one query in ten to the file, and counts the others.  Each query is the first of a
 * new connection in one of the slots, or the next of its connection. */
static void write_sample(FILE *file, uint64_t begin_ns, uint32_t n_slots, bool is_first)
{
    struct rows_result result;
    struct rows *s = open_rows(fileno(file), 1, 32768, ROWS_DROP, ONE_IN);

    assert_non_null(s);
    rows_begin(s, begin_ns);
    for (uint32_t i = 0; i < QUERIES; i++)
        push_query(s, begin_ns, i, i % n_slots, (uint16_t)(is_first ? 0 : i / n_slots));
    rows_close(s, &result);
    assert_in_range(result.written[0], QUERIES / ONE_IN * 8 / 10, QUERIES / ONE_IN * 12 / 10);
    for (int kind = 0; kind < 2; kind++) {
        assert_int_equal(result.written[kind], result.written[0]);
        assert_int_equal(result.written[kind] + result.left_out[kind], QUERIES);
    }
}

static void a_sample_has_both_rows_of_a_query_or_none(void **state)
{
    static const uint32_t n_slots[] = {1, 20, 100};
    FILE *file = tmpfile();

    (void)state;
    assert_non_null(file);
    for (size_t k = 0; k < N_OF(n_slots); k++) {
        write_sample(file, OFFSET_NS, n_slots[k], false);
        write_sample(file, OFFSET_NS, n_slots[k], true);
    }
    assert_int_equal(fclose(file), 0);
}

/* Reads the columns that tell the queries of a schedule from each other: the gap or the time of the
 * answer, and the lag. */
static void read_row(FILE *file, char row[ROWS_LINE_BYTES])
{
    assert_int_equal(fscanf(file, "%*c,%*[0-9.],%*[0-9],%*[0-9],"), 0);
    assert_non_null(fgets(row, ROWS_LINE_BYTES, file));
}

/* Compares the rows of two samples, and closes the files. */
static void assert_same_queries(FILE *const files[2])
{
    char rows[2][ROWS_LINE_BYTES];

    for (unsigned k = 0; k < 2; k++)
        assert_int_equal(fseek(files[k], 0, SEEK_SET), 0);
    for (unsigned n = 0; n < QUERIES / ONE_IN; n++) {
        for (unsigned k = 0; k < 2; k++)
            read_row(files[k], rows[k]);
        assert_string_equal(rows[0], rows[1]);
    }
    for (unsigned k = 0; k < 2; k++)
        assert_int_equal(fclose(files[k]), 0);
}

static void a_sample_has_the_same_queries_whenever_the_schedule_begins(void **state)
{
    FILE *const files[] = {tmpfile(), tmpfile()};

    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        assert_non_null(files[k]);
        write_sample(files[k], 12345000ull + 777000u * k, 20, true);
    }
    assert_same_queries(files);
}

static void a_sample_has_the_same_queries_whichever_connections_send_them(void **state)
{
    static const uint32_t n_slots[] = {20, 30};
    FILE *const files[] = {tmpfile(), tmpfile()};

    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        assert_non_null(files[k]);
        write_sample(files[k], OFFSET_NS, n_slots[k], k == 0);
    }
    assert_same_queries(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_gets_the_header_and_all_rows),
        cmocka_unit_test(nothing_is_written_before_the_start),
        cmocka_unit_test(workers_push_at_the_same_time_as_the_writer_takes),
        cmocka_unit_test(a_slow_reader_gets_the_rows_of_all_rings_in_turn),
        cmocka_unit_test(a_sample_has_both_rows_of_a_query_or_none),
        cmocka_unit_test(a_sample_has_the_same_queries_whenever_the_schedule_begins),
        cmocka_unit_test(a_sample_has_the_same_queries_whichever_connections_send_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
