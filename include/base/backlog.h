/* SPDX-License-Identifier: MIT
 * backlog: text that the reader of a descriptor has not read yet. */
#ifndef TCPSCALER_BASE_BACKLOG_H
#define TCPSCALER_BASE_BACKLOG_H

#include "base/writing.h"

#include <stddef.h>
#include <stdint.h>

/* While more than this is waiting to be taken, further text is dropped. */
#define BACKLOG_BYTES ((size_t)16 << 20)

/* All zero at the start. */
struct backlog {
    char *text;
    size_t n_bytes, n_taken; /* of which n_taken have been taken */
    size_t capacity_bytes;   /* of text */
    uint64_t n_lines_lost;   /* dropped */
};

/* Adds text from malloc(3), and frees it later.  Drops it if more than BACKLOG_BYTES are waiting,
 * or if out of memory. */
void backlog_add(struct backlog *b, char *text, size_t n_bytes);

/* Writes all of it; waits for the reader as long as may_wait() allows.  Returns 0; or EAGAIN if the
 * reader does not read, or the errno of write(2). */
int backlog_write(struct backlog *b, int fd, writing_may_wait *may_wait);

/* Drops what is left. */
void backlog_drop(struct backlog *b);

#endif
