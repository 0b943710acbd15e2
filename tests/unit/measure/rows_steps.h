/* SPDX-License-Identifier: MIT
 * rows_steps: shared by the tests of rows. */
#ifndef TCPSCALER_TESTS_UNIT_MEASURE_ROWS_STEPS_H
#define TCPSCALER_TESTS_UNIT_MEASURE_ROWS_STEPS_H

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

/* Row number `sequence` of a ring; the connection encodes both.  Even ones are Q, odd ones A. */
static inline struct rows_record sample_of(uint32_t ring, uint32_t sequence)
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

static inline struct rows *open_rows(int fd, uint32_t n_rings, uint32_t ring_rows, int when_full,
                                     uint64_t one_in)
{
    const struct rows_options options = {.fd = fd,
                                         .n_rings = n_rings,
                                         .ring_rows = ring_rows,
                                         .realtime_offset_ns = OFFSET_NS,
                                         .when_full = when_full,
                                         .one_in = one_in};
    struct rows *s = rows_open(&options);

    if (s != NULL)
        rows_start(s);
    return s;
}

static inline void push_rows(struct rows *s, uint32_t ring, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const struct rows_record sample = sample_of(ring, i);

        rows_push(s, ring, &sample);
    }
}

/* The text must be the header and complete rows as pushed, those of each ring in order.  Counts
 * them. */
static inline void check_text(const char *text, size_t n_bytes, uint64_t n_rows[2])
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
        /* Not sscanf, which calls strlen. */
        column = memchr(text + 2, ',', (size_t)(next - text) - 2);
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

/* Reads a descriptor to its end, possibly in another thread. */
struct reader {
    int fd;
    char *text;
    size_t n_bytes;
};

static inline void *read_all(void *arg)
{
    struct reader *r = arg;
    ssize_t n = 1;

    while (n > 0 && r->n_bytes < FILE_BYTES) {
        n = read(r->fd, r->text + r->n_bytes, FILE_BYTES - r->n_bytes);
        r->n_bytes += n > 0 ? (size_t)n : 0;
    }
    return NULL;
}

static inline struct reader reader_of(int fd)
{
    struct reader r = {.fd = fd, .text = calloc(1, FILE_BYTES + 1)};

    assert_non_null(r.text);
    return r;
}

/* The text read must be exactly the rows written.  Frees it. */
static inline void assert_read_written(const struct reader *r, const struct rows_result *result)
{
    uint64_t n_rows[2];

    check_text(r->text, r->n_bytes, n_rows);
    assert_int_equal(n_rows[0], result->written[0]);
    assert_int_equal(n_rows[1], result->written[1]);
    free(r->text);
}

static inline void assert_sums(const struct rows_result *result, uint64_t n_questions,
                               uint64_t n_answers)
{
    assert_int_equal(result->written[0] + result->dropped[0], n_questions);
    assert_int_equal(result->written[1] + result->dropped[1], n_answers);
}

#endif
