/* SPDX-License-Identifier: MIT
 * query: what is asked on a connection and how its answers are recognised in the byte stream.
 *
 * Pure.  A protocol knows bytes, not sockets: a new one is a query_NAME.c and a row in
 * query_init.c. A struct query is made once and then read by every worker; each connection embeds
 * one struct query_stream (all zero at its start), which is all the memory a half-received answer
 * needs. */
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
    uint8_t *bytes;   /* encoded queries with id 0, one behind the other */
    size_t n_bytes;   /* of all of them */
    size_t n_queries; /* 1; more only where each begins with the length of its rest, 2 bytes */
};

/* What the user asks for; all zero: the defaults. */
struct query_ask {
    const char *qname; /* dns: its name; NULL: "example.com" */
    const char *qtype; /* dns: its type; NULL: "A" */
    struct dns_edns edns;
    /* dns: instead of the name its lines (protocol/query_file.h), qtype for those that have none;
     * text NULL: no file */
    struct query_text {
        const char *file; /* for messages */
        const char *text;
        size_t n_bytes;
    } lines;
    size_t size_bytes; /* echo: of a message, 1..65536; 0: 64 */
};

/* What has been seen of the answer under way.  8 bytes: each idle connection has one. */
struct query_stream {
    uint16_t offset;  /* its bytes received so far; DNS: those up to its flags */
    uint16_t missing; /* DNS: of the announced length what has not been received */
    uint16_t id;      /* DNS: known from offset 4 on */
    uint8_t says;     /* after QUERY_REPLY: what the answer says of itself */
};

/* stream->says: 0, nothing (no DNS, or no answer but a query: QR is not set); otherwise 1 + RCODE,
 * the four bits of the header, and whether it is truncated (TC). */
enum { QUERY_SAYS_CODE = 0x1f, QUERY_SAYS_TRUNCATED = 0x20, QUERY_N_CODES = 17 };

enum query_event {
    QUERY_MORE,     /* all input consumed, no complete answer in it */
    QUERY_REPLY,    /* one complete answer; input may be left */
    QUERY_MALFORMED /* not this protocol; the stream cannot be trusted any more */
};

/* Input that is consumed from the front. */
struct query_input {
    const uint8_t *data;
    size_t n_bytes;
};

struct query_protocol {
    const char *name;
    bool has_id;   /* answers carry an id; otherwise they come in the order of the queries */
    bool has_code; /* answers have a response code */
    uint8_t id_offset;
    int (*init)(struct query *q, const struct query_ask *ask, char *error); /* makes q->bytes */
    enum query_event (*next)(const struct query *q, struct query_stream *stream,
                             struct query_input *in);
};

/* Releases what query_init() (query_init.h) made. */
void query_free(struct query *q);

/* A query is named by where it begins in q->bytes: 0 is the first. */

static inline size_t query_size(const struct query *q, size_t at)
{
    return q->n_queries == 1 ? q->n_bytes : 2 + (size_t)(q->bytes[at] << 8 | q->bytes[at + 1]);
}

/* The one behind it; behind the last stands the first. */
static inline size_t query_after(const struct query *q, size_t at)
{
    at += query_size(q, at);
    return at < q->n_bytes ? at : 0;
}

/* Number `index` of them, < n_queries; takes time in proportion to it. */
size_t query_at(const struct query *q, size_t index);

/* Writes the query with this id; out has query_size() bytes. */
void query_encode(const struct query *q, size_t at, uint16_t id, uint8_t *out);

/* Consumes input up to the end of the next answer.  After QUERY_REPLY stream->id is the answer's id
 * (has_id only) and stream->says is valid.  After QUERY_MALFORMED neither stream nor input is to be
 * used again. */
static inline enum query_event query_next(const struct query *q, struct query_stream *stream,
                                          struct query_input *in)
{
    return q->protocol->next(q, stream, in);
}

#endif
