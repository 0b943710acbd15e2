/* SPDX-License-Identifier: MIT
 * query_ping: see protocol/query_ping.h. */
#include "protocol/query_ping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 4 };

static const uint8_t ping[WORD_BYTES] = {'P', 'i', 'n', 'g'};
static const uint8_t pong[WORD_BYTES] = {'P', 'o', 'n', 'g'};

/* Number of bytes of the word matched after one more.  Only its first byte can restart a match. */
static uint8_t match(const uint8_t word[WORD_BYTES], size_t matched, uint8_t byte)
{
    if (byte == word[matched])
        return (uint8_t)(matched + 1);
    return byte == word[0];
}

static int init(struct query *q, const struct query_ask *ask, char *error)
{
    (void)ask;
    q->n_bytes = WORD_BYTES;
    q->bytes = malloc(WORD_BYTES);
    if (q->bytes == NULL) {
        snprintf(error, QUERY_ERROR_BYTES, "out of memory");
        return -1;
    }
    memcpy(q->bytes, ping, WORD_BYTES);
    return 0;
}

static enum query_event next(const struct query *q, struct query_stream *stream,
                             struct query_input *in)
{
    (void)q;
    while (in->n_bytes > 0) {
        stream->offset = match(pong, stream->offset, *in->data++);
        in->n_bytes--;
        if (stream->offset == WORD_BYTES) {
            stream->offset = 0;
            return QUERY_REPLY;
        }
    }
    return QUERY_MORE;
}

const struct query_protocol query_ping_protocol = {.name = "ping", .init = init, .next = next};

size_t query_ping_answer(uint8_t *matched, const uint8_t *data, size_t n_bytes, uint8_t *out)
{
    size_t n_written = 0;

    for (size_t i = 0; i < n_bytes; i++) {
        *matched = match(ping, *matched, data[i]);
        if (*matched == WORD_BYTES) {
            *matched = 0;
            memcpy(out + n_written, pong, WORD_BYTES);
            n_written += WORD_BYTES;
        }
    }
    return n_written;
}
