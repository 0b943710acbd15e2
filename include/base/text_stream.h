/* SPDX-License-Identifier: MIT
 * text_stream: a stream that collects text in memory.  Unlike open_memstream(3), which drops text
 * when it cannot enlarge its buffer, and reports that neither in ferror(3) nor in fclose(3), it
 * knows whether the text is complete.  Any thread. */
#ifndef TCPSCALER_BASE_TEXT_STREAM_H
#define TCPSCALER_BASE_TEXT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct text_stream {
    FILE *out; /* to write to; NULL: could not be opened */
    char *text;
    size_t n_bytes, capacity_bytes;
    bool failed;
};

/* The stream must not move until it is closed.  Returns 0, or -1 if out of memory. */
int text_stream_open(struct text_stream *t);

/* Returns *n_bytes of text followed by a 0 byte, which the caller frees; or NULL, with 0 bytes, if
 * memory ran out since text_stream_open() was called, or in it. */
char *text_stream_close(struct text_stream *t, size_t *n_bytes);

#endif
