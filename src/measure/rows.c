/* SPDX-License-Identifier: MIT
 * rows: see measure/rows.h. */
#include "measure/rows.h"

#include "base/clock.h"
#include "base/thread_start.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUFFER_BYTES = 1 << 20,
    ROWS_AT_A_TIME = 256,
    IDLE_NS = 2000000,
    WAIT_NS = 200000,
    CACHE_LINE_BYTES = 64,
    POLL_MS = 50
};

/* The worker writes head, the writer tail; each has its own cache line. */
struct ring {
    struct rows_record *rows;
    _Alignas(CACHE_LINE_BYTES) _Atomic uint32_t head; /* rows added so far, modulo 2^32 */
    uint64_t dropped[2], left_out[2];
    _Alignas(CACHE_LINE_BYTES) _Atomic uint32_t tail; /* rows removed so far */
};

struct rows {
    struct rows_options o;
    struct ring *rings;
    uint64_t begin_ns; /* of the schedule */
    _Atomic bool may_wait;
    size_t most_per_write;
    pthread_t thread;
    _Atomic bool may_write; /* rows_start() */
    _Atomic bool ending;    /* no more rows will follow */
    /* The output has failed if the two are equal: a failure from before rows_resume() that is noted
     * after it stops nothing. */
    _Atomic uint32_t n_starts;  /* 1, and one for each rows_resume() */
    _Atomic uint32_t failed_in; /* n_starts before the write that failed; 0: none has */
    /* used by the writer thread */
    char *buffer;
    size_t n_bytes, n_written;
    uint32_t next_ring;        /* next ring to read */
    uint64_t waiting_since_ns; /* wait for the reader since then, after the last row; 0: it reads */
    struct rows_result result;
};

static int kind_of(char type)
{
    return type == 'A';
}

/* --- writing: in the writer's thread --- */

static bool has_failed(const struct rows *s)
{
    return atomic_load_explicit(&s->failed_in, memory_order_acquire) ==
           atomic_load_explicit(&s->n_starts, memory_order_acquire);
}

static bool has_stopped(const struct rows *s)
{
    return has_failed(s) || s->result.timed_out;
}

static uint64_t timeout_ns(const struct rows *s)
{
    return s->o.hurry != NULL && atomic_load(s->o.hurry) ? ROWS_HURRY_TIMEOUT_NS : ROWS_TIMEOUT_NS;
}

/* A reader that does not read must not block the writer forever once the run is over. */
static bool wait_until_writable(struct rows *s)
{
    while (!has_stopped(s)) {
        struct pollfd p = {.fd = s->o.fd, .events = POLLOUT};
        uint64_t now_ns;

        if (poll(&p, 1, POLL_MS) > 0)
            return true;
        if (!atomic_load_explicit(&s->ending, memory_order_acquire))
            continue;
        now_ns = clock_now_ns();
        if (s->waiting_since_ns == 0)
            s->waiting_since_ns = now_ns;
        s->result.timed_out = now_ns - s->waiting_since_ns > timeout_ns(s);
    }
    return false;
}

/* Returns whether to go on. */
static bool write_some(struct rows *s)
{
    const uint32_t n_starts = atomic_load_explicit(&s->n_starts, memory_order_acquire);
    size_t n_left = s->n_bytes - s->n_written;
    ssize_t n = write(s->o.fd, s->buffer + s->n_written,
                      n_left < s->most_per_write ? n_left : s->most_per_write);

    if (n >= 0) {
        s->n_written += (size_t)n;
        s->waiting_since_ns = 0;
    } else if (errno != EINTR && errno != EAGAIN) {
        s->result.error = errno;
        atomic_store_explicit(&s->failed_in, n_starts, memory_order_release);
        return false;
    }
    return true;
}

/* A row of the buffer counts as written once its last byte is. */
static void count_rows(struct rows *s)
{
    const char *begin = s->buffer, *end = s->buffer + s->n_bytes, *newline;

    for (; begin < end; begin = newline + 1) {
        newline = memchr(begin, '\n', (size_t)(end - begin));
        if (*begin != 'Q' && *begin != 'A')
            continue; /* the header */
        if ((size_t)(newline - s->buffer) < s->n_written)
            s->result.written[kind_of(*begin)]++;
        else
            s->result.dropped[kind_of(*begin)]++;
    }
}

/* After a failure the rest is dropped, even if others are written again by then: it may begin
 * within a row. */
static void flush(struct rows *s)
{
    bool goes_on = true;

    s->n_written = 0;
    while (goes_on && s->n_written < s->n_bytes && wait_until_writable(s))
        goes_on = write_some(s);
    count_rows(s);
    s->n_bytes = 0;
}

static bool has_space(const struct rows *s)
{
    return s->n_bytes + ROWS_LINE_BYTES <= BUFFER_BYTES;
}

/* Formats up to ROWS_AT_A_TIME rows of a ring, as far as the buffer has room.  Returns whether
 * there was any. */
static bool drain(struct rows *s, uint32_t number)
{
    struct ring *ring = &s->rings[number];
    const uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    const bool any = tail != head;

    for (int i = 0; i < ROWS_AT_A_TIME && tail != head && has_space(s); i++) {
        s->n_bytes += rows_format(s->buffer + s->n_bytes, &ring->rows[tail & (s->o.ring_rows - 1)],
                                  number, s->o.realtime_offset_ns);
        tail++;
    }
    atomic_store_explicit(&ring->tail, tail, memory_order_release);
    return any;
}

/* Fills the buffer from the rings in turn, a few rows of each, and continues with the next ring at
 * the next call: with a slow reader every worker loses the same share of its rows. */
static bool drain_all(struct rows *s)
{
    uint32_t n_empty = 0;
    bool any = false;

    while (n_empty < s->o.n_rings && has_space(s)) {
        const bool had_rows = drain(s, s->next_ring);

        n_empty = had_rows ? 0 : n_empty + 1;
        any |= had_rows;
        s->next_ring = (s->next_ring + 1) % s->o.n_rings;
    }
    return any;
}

static void *write_rows(void *arg)
{
    static const struct timespec rest = {.tv_nsec = IDLE_NS};
    struct rows *s = arg;
    bool any = true, ending = false;

    /* reads the flag before the rings: rows added before it was set are found */
    while (any || !ending) {
        ending = atomic_load_explicit(&s->ending, memory_order_acquire);
        any = drain_all(s);
        if (s->n_bytes > 0 && atomic_load_explicit(&s->may_write, memory_order_acquire))
            flush(s);
        if (!any && !ending)
            nanosleep(&rest, NULL);
    }
    return NULL;
}

/* --- life --- */

static size_t most_per_write(int fd)
{
    struct stat status;

    /* poll(2) guarantees room for PIPE_BUF bytes in a pipe; a larger write could block the thread
     * so that it cannot be ended.  The pipe's flags are shared with other processes and must not be
     * changed. */
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? BUFFER_BYTES : PIPE_BUF;
}

static void release(struct rows *s)
{
    for (uint32_t i = 0; s->rings != NULL && i < s->o.n_rings; i++)
        free(s->rings[i].rows);
    free(s->rings);
    free(s->buffer);
    free(s);
}

static int allocate(struct rows *s)
{
    s->buffer = malloc(BUFFER_BYTES);
    s->rings = aligned_alloc(CACHE_LINE_BYTES, s->o.n_rings * sizeof *s->rings);
    if (s->buffer == NULL || s->rings == NULL)
        return -1;
    memset(s->rings, 0, s->o.n_rings * sizeof *s->rings);
    for (uint32_t i = 0; i < s->o.n_rings; i++) {
        s->rings[i].rows = malloc(s->o.ring_rows * sizeof *s->rings[i].rows);
        if (s->rings[i].rows == NULL)
            return -1;
    }
    memcpy(s->buffer, ROWS_HEADER, sizeof ROWS_HEADER - 1);
    s->n_bytes = sizeof ROWS_HEADER - 1;
    return 0;
}

struct rows *rows_open(const struct rows_options *options)
{
    struct rows *s = calloc(1, sizeof *s);
    int error = ENOMEM;

    if (s == NULL)
        return NULL;
    s->o = *options;
    atomic_init(&s->may_wait, options->when_full == ROWS_BLOCK);
    atomic_init(&s->n_starts, 1);
    s->most_per_write = most_per_write(options->fd);
    if (allocate(s) == 0)
        error = thread_start(&s->thread, write_rows, s);
    if (error == 0)
        return s;
    release(s);
    errno = error;
    return NULL;
}

void rows_start(struct rows *s)
{
    atomic_store_explicit(&s->may_write, true, memory_order_release);
}

void rows_begin(struct rows *s, uint64_t begin_ns)
{
    s->begin_ns = begin_ns;
}

/* Both rows of a query give the same time. */
static uint64_t due_ns(const struct rows_record *record)
{
    return record->time_ns - record->lag_ns - (record->type == 'A' ? record->span_ns : 0);
}

/* The finalizer of splitmix64 (see base/rng.h).  The schedule alone determines the time due; the
 * connection may depend on which others are open, and its ids on when it was opened. */
static bool is_selected(const struct rows *s, const struct rows_record *record)
{
    uint64_t z = 0x9e3779b97f4a7c15ull * (due_ns(record) - s->begin_ns + 1);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (z ^ z >> 31) % s->o.one_in == 0;
}

static bool has_room(const struct rows *s, const struct ring *r, uint32_t head)
{
    return head - atomic_load_explicit(&r->tail, memory_order_acquire) != s->o.ring_rows;
}

static bool wait_for_room(const struct rows *s, const struct ring *r, uint32_t head)
{
    static const struct timespec moment = {.tv_nsec = WAIT_NS};

    while (!has_room(s, r, head)) {
        if (!atomic_load_explicit(&s->may_wait, memory_order_relaxed))
            return false;
        nanosleep(&moment, NULL);
    }
    return true;
}

void rows_push(struct rows *s, uint32_t ring, const struct rows_record *record)
{
    struct ring *r = &s->rings[ring];
    const uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    const int kind = kind_of((char)record->type);

    if (s->o.one_in > 1 && !is_selected(s, record)) {
        r->left_out[kind]++;
        return;
    }
    if (!has_room(s, r, head) && !wait_for_room(s, r, head)) {
        r->dropped[kind]++;
        return;
    }
    r->rows[head & (s->o.ring_rows - 1)] = *record;
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
}

void rows_stop_waiting(struct rows *s)
{
    atomic_store_explicit(&s->may_wait, false, memory_order_relaxed);
}

int rows_error(const struct rows *s)
{
    return has_failed(s) ? s->result.error : 0;
}

void rows_resume(struct rows *s)
{
    atomic_fetch_add_explicit(&s->n_starts, 1, memory_order_release);
}

const char *rows_failure(const struct rows_result *result)
{
    if (result->error != 0)
        return strerror(result->error);
    if (result->timed_out)
        return "the reader has stalled";
    return result->dropped[0] + result->dropped[1] > 0 ? "the disk or the reader is too slow"
                                                       : NULL;
}

void rows_close(struct rows *s, struct rows_result *result)
{
    atomic_store_explicit(&s->ending, true, memory_order_release);
    pthread_join(s->thread, NULL);
    *result = s->result;
    for (uint32_t i = 0; i < s->o.n_rings; i++)
        for (int kind = 0; kind < 2; kind++) {
            result->dropped[kind] += s->rings[i].dropped[kind];
            result->left_out[kind] += s->rings[i].left_out[kind];
        }
    release(s);
}
