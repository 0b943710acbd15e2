/* SPDX-License-Identifier: MIT
 * rows: a row for each measured query, answer and pushed message, formatted and written outside the
 * send path.
 *
 * Each worker puts 32-byte records into its own ring (one producer, one consumer, no lock, no
 * system call).  One writer thread takes records from all rings in turn, formats them as CSV and
 * writes them to a descriptor that it does not own.  If a ring is full, the row is dropped and
 * counted, or (ROWS_BLOCK) the worker waits.  A reader that goes away (EPIPE), a full disk, or a
 * reader that reads nothing for ROWS_TIMEOUT_NS after the run stops the output, not the run: rows
 * not written count as dropped.  After a failure, rows_resume() starts it again. */
#ifndef TCPSCALER_MEASURE_ROWS_H
#define TCPSCALER_MEASURE_ROWS_H

#include "measure/rows_format.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ROWS_TIMEOUT_NS       10000000000ull
#define ROWS_HURRY_TIMEOUT_NS 200000000ull

struct rows;

/* What a worker does when its ring is full; in the order of the option's choices. */
enum rows_when_full { ROWS_DROP, ROWS_BLOCK };
#define ROWS_WHEN_FULL "drop|block"

struct rows_options {
    int fd;
    uint32_t n_rings;            /* one per worker ... */
    uint32_t ring_rows;          /* ... of this size, a power of two */
    uint64_t realtime_offset_ns; /* dates the rows */
    int when_full;               /* enum rows_when_full */
    /* One query in this many has rows, >= 1.  It has both rows or none, and the same queries are
     * selected in every run of an open loop, by a hash of the time due. */
    uint64_t one_in;
    const atomic_int *hurry; /* NULL, or a flag: while nonzero, ROWS_HURRY_TIMEOUT_NS applies */
};

/* Starts the writer thread.  Returns NULL with errno on failure. */
struct rows *rows_open(const struct rows_options *options);

/* Writes the header, and rows from then on; nothing is written before this call. */
void rows_start(struct rows *s);

/* Before the first row: the schedule begins at begin_ns, from which one_in counts the time due. */
void rows_begin(struct rows *s, uint64_t begin_ns);

/* Called by worker `ring` only.  A row that does not fit is dropped and counted, or waits for room.
 */
void rows_push(struct rows *s, uint32_t ring, const struct rows_record *record);

/* Any thread: from now on no row waits for room. */
void rows_stop_waiting(struct rows *s);

/* Main thread: the errno of the failed write that stopped the output, 0: it is not stopped.  Until
 * rows_resume() nothing is written; the end of a file may be a part of a row. */
int rows_error(const struct rows *s);

/* Main thread, with the descriptor at the end of a line: if the output is stopped by an error,
 * rows are written again. */
void rows_resume(struct rows *s);

struct rows_result {
    uint64_t written[2]; /* rows: [0] Q, [1] A */
    uint64_t dropped[2];
    uint64_t left_out[2]; /* excluded by one_in */
    int error;            /* errno that last stopped the output, 0: none */
    bool timed_out;       /* stopped because the reader took nothing */
};

/* Why rows are missing; NULL: none is. */
const char *rows_failure(const struct rows_result *result);

/* After the last push: writes what the rings hold, unless it was not started, ends the thread,
 * frees all but the descriptor. */
void rows_close(struct rows *s, struct rows_result *result);

#endif
