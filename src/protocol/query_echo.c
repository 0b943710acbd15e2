/* SPDX-License-Identifier: MIT
 * query_echo: see protocol/query_echo.h. */
#include "protocol/query_echo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BYTES = 64 };

/* A pattern without a short period, so that shifted or reordered bytes are detected. */
static uint8_t pattern(size_t i)
{
    return (uint8_t)(i * 131 + (i >> 8) * 17 + 7);
}

static int init(struct query *q, const struct query_ask *ask, char *error)
{
    q->n_bytes = ask->size_bytes > 0 ? ask->size_bytes : DEFAULT_BYTES;
    if (q->n_bytes > QUERY_MAX_BYTES) {
        snprintf(error, QUERY_ERROR_BYTES, "--size: invalid value '%zu': expected 1 to %u",
                 q->n_bytes, QUERY_MAX_BYTES);
        return -1;
    }
    q->bytes = malloc(q->n_bytes);
    if (q->bytes == NULL) {
        snprintf(error, QUERY_ERROR_BYTES, "out of memory");
        return -1;
    }
    for (size_t i = 0; i < q->n_bytes; i++)
        q->bytes[i] = pattern(i);
    return 0;
}

static enum query_event next(const struct query *q, struct query_stream *stream,
                             struct query_input *in)
{
    size_t missing = q->n_bytes - stream->offset;
    size_t taken = missing < in->n_bytes ? missing : in->n_bytes;

    if (taken == 0)
        return QUERY_MORE;
    if (memcmp(q->bytes + stream->offset, in->data, taken) != 0)
        return QUERY_MALFORMED;
    in->data += taken;
    in->n_bytes -= taken;
    stream->offset = (uint16_t)(stream->offset + taken);
    if (taken < missing)
        return QUERY_MORE;
    stream->offset = 0;
    return QUERY_REPLY;
}

const struct query_protocol query_echo_protocol = {.name = "echo", .init = init, .next = next};
