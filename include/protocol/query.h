/* SPDX-License-Identifier: MIT
 * query: encodes queries and recognizes their answers in the byte stream.  Pure.
 *
 * A protocol knows bytes, not sockets; a new one is a file query_NAME.c and a row in query_init.c.
 * A struct query is created once and then read by every worker.  Each connection embeds one struct
 * query_stream (zero at its start), which is all the memory that a partial answer needs. */
#ifndef TCPSCALER_PROTOCOL_QUERY_H
#define TCPSCALER_PROTOCOL_QUERY_H

#include "protocol/dns_message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUERY_ERROR_BYTES 420
#define QUERY_MAX_BYTES   65536u /* of one encoded query */

struct query_protocol;

struct query {
    const struct query_protocol *protocol;
    uint8_t *bytes;   /* encoded queries with id 0, back to back */
    size_t n_bytes;   /* total */
    size_t n_queries; /* 1; more only if each begins with its length in 2 bytes */
};

/* Requested by the user; all zero: defaults. */
struct query_ask {
    const char *qname; /* dns: its name; NULL: "example.com" */
    const char *qtype; /* dns: its type; NULL: "A" */
    struct dns_edns edns;
    /* dns: replaces qname by the lines of a file (protocol/query_file.h); qtype applies to lines
     * without a type; text NULL: no file */
    struct query_text {
        const char *file; /* for messages */
        const char *text;
        size_t n_bytes;
    } lines;
    size_t size_bytes; /* echo: size of a message, 1..65536; 0: 64 */
};

/* State of the current answer.  8 bytes, because each idle connection has one. */
struct query_stream {
    uint16_t offset;  /* bytes received so far; DNS: up to the flags */
    uint16_t missing; /* DNS: bytes of the announced length still missing */
    uint16_t id;      /* DNS: known from offset 4 on */
    uint8_t status;   /* of the answer, see below; valid after QUERY_REPLY */
};

/* stream->status: 0: none (not DNS, or a query: QR is not set); otherwise 1 + RCODE (4 bits) and
 * whether the answer is truncated (TC). */
enum { QUERY_STATUS_CODE = 0x1f, QUERY_STATUS_TRUNCATED = 0x20, QUERY_N_CODES = 17 };

enum query_event {
    QUERY_MORE,     /* all input consumed, no complete answer in it */
    QUERY_REPLY,    /* one complete answer; input may be left */
    QUERY_MALFORMED /* not this protocol: the rest of the stream is unusable */
};

/* Input, consumed from the front. */
struct query_input {
    const uint8_t *data;
    size_t n_bytes;
};

struct query_protocol {
    const char *name;
    bool has_id;   /* answers carry an id; otherwise they arrive in the order of the queries */
    bool has_code; /* answers have a response code */
    uint8_t id_offset;
    int (*init)(struct query *q, const struct query_ask *ask, char *error); /* creates q->bytes */
    enum query_event (*next)(const struct query *q, struct query_stream *stream,
                             struct query_input *in);
};

/* Frees what query_init() (protocol/query_init.h) created. */
void query_free(struct query *q);

/* A query is identified by its offset in q->bytes: 0 is the first. */

static inline size_t query_size(const struct query *q, size_t at)
{
    return q->n_queries == 1 ? q->n_bytes : 2 + (size_t)(q->bytes[at] << 8 | q->bytes[at + 1]);
}

/* Returns the next query; the last one is followed by the first. */
static inline size_t query_after(const struct query *q, size_t at)
{
    at += query_size(q, at);
    return at < q->n_bytes ? at : 0;
}

/* Returns query number `index` < n_queries, in linear time. */
size_t query_at(const struct query *q, size_t index);

/* Writes the query with this id to out: query_size() bytes. */
void query_encode(const struct query *q, size_t at, uint16_t id, uint8_t *out);

/* Consumes input up to the end of the next answer.  After QUERY_REPLY, stream->id is the answer's
 * id (if has_id) and stream->status is valid.  After QUERY_MALFORMED neither stream nor input may
 * be used again. */
static inline enum query_event query_next(const struct query *q, struct query_stream *stream,
                                          struct query_input *in)
{
    return q->protocol->next(q, stream, in);
}

#endif
