/* SPDX-License-Identifier: MIT
 * query_dns: see protocol/query_dns.h. */
#include "protocol/query_dns.h"

#include "protocol/dns_message.h"
#include "protocol/dns_name.h"
#include "protocol/dns_type.h"
#include "protocol/query_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 2, HEADER_BYTES = 12, HEAD_BYTES = 6 }; /* header: length, id, flags */
enum { FLAG_QR = 0x80, FLAG_TC = 0x02, RCODE = 0x0f };
enum { FIRST_ROOM_BYTES = 1 << 13, REASON_BYTES = 160, MOST_SHOWN = 70 };

#define REFUSE(...) (snprintf(error, QUERY_ERROR_BYTES, __VA_ARGS__), -1)

/* --- queries --- */

static int parse_name(struct dns_question *question, const char *name, size_t n, char *reason)
{
    question->n_name = (uint16_t)dns_name_parse(name, n, question->name);
    if (question->n_name > 0)
        return 0;
    snprintf(reason, REASON_BYTES, "invalid domain name '%.*s': expected " DNS_NAME_ACCEPTED,
             n < MOST_SHOWN ? (int)n : MOST_SHOWN, name);
    return -1;
}

static int parse_type(struct dns_question *question, const char *type, size_t n, char *reason)
{
    if (dns_type_parse(type, n, &question->type) == 0)
        return 0;
    snprintf(reason, REASON_BYTES, "invalid type '%.*s': expected " DNS_TYPE_ACCEPTED,
             n < MOST_SHOWN ? (int)n : MOST_SHOWN, type);
    return -1;
}

/* A growing table of encoded queries. */
struct table {
    struct query *q;
    size_t room;
    const struct dns_edns *edns;
};

/* Appends a query.  Returns 0, or -1 if out of memory. */
static int append(struct table *t, const struct dns_question *question)
{
    struct query *q = t->q;

    if (q->n_bytes > UINT32_MAX) /* a query in flight stores its offset in 32 bits */
        return -1;
    if (t->room - q->n_bytes < DNS_MESSAGE_BYTES) {
        const size_t room = t->room > 0 ? 2 * t->room : FIRST_ROOM_BYTES;
        uint8_t *larger = realloc(q->bytes, room);

        if (larger == NULL)
            return -1;
        q->bytes = larger;
        t->room = room;
    }
    q->n_bytes += dns_message_encode(q->bytes + q->n_bytes, question, t->edns);
    q->n_queries++;
    return 0;
}

static int parse_line(struct dns_question *question, const struct query_line *line,
                      uint16_t default_type, char *reason)
{
    if (parse_name(question, line->name, line->n_name, reason) != 0)
        return -1;
    question->type = default_type;
    return line->n_type > 0 ? parse_type(question, line->type, line->n_type, reason) : 0;
}

static int append_lines(struct table *t, const struct query_text *lines, uint16_t default_type,
                        char *error)
{
    struct query_file file = {lines->text, lines->n_bytes, 0};
    struct dns_question question;
    struct query_line line;
    char reason[REASON_BYTES];
    int found;

    while ((found = query_file_next(&file, &line)) > 0) {
        if (parse_line(&question, &line, default_type, reason) != 0)
            return REFUSE("--query-file: %.200s:%zu: %s", lines->file, file.line, reason);
        if (append(t, &question) != 0)
            return REFUSE("--query-file: %.200s:%zu: not enough memory for all queries",
                          lines->file, file.line);
    }
    if (found < 0)
        return REFUSE("--query-file: %.200s:%zu: more than two words: expected a name and a type",
                      lines->file, file.line);
    if (t->q->n_queries == 0)
        return REFUSE("--query-file: %.200s: no query found: expected lines of a name and a type",
                      lines->file);
    return 0;
}

static int init(struct query *q, const struct query_ask *ask, char *error)
{
    const char *qname = ask->qname != NULL ? ask->qname : "example.com";
    const char *qtype = ask->qtype != NULL ? ask->qtype : "A";
    struct table table = {.q = q, .edns = &ask->edns};
    struct dns_question question;
    char reason[REASON_BYTES];

    q->n_queries = 0;
    if (parse_name(&question, qname, strlen(qname), reason) != 0)
        return REFUSE("--qname: %s", reason);
    if (parse_type(&question, qtype, strlen(qtype), reason) != 0)
        return REFUSE("--qtype: %s", reason);
    if (ask->lines.text != NULL)
        return append_lines(&table, &ask->lines, question.type, error);
    return append(&table, &question) != 0 ? REFUSE("out of memory") : 0;
}

/* --- answers --- */

static uint8_t status_of(uint8_t flags_high, uint8_t flags_low)
{
    if ((flags_high & FLAG_QR) == 0)
        return 0;
    return (uint8_t)((1 + (flags_low & RCODE)) |
                     (flags_high & FLAG_TC ? QUERY_STATUS_TRUNCATED : 0));
}

/* What follows the length prefix of an answer of this length. */
static enum query_event take_length(struct query_stream *stream, unsigned length)
{
    if (length < HEADER_BYTES)
        return QUERY_MALFORMED;
    stream->missing = (uint16_t)(length - (HEAD_BYTES - LENGTH_BYTES));
    return QUERY_MORE;
}

/* The next byte of a header that arrives in pieces. */
static enum query_event take_byte(struct query_stream *stream, uint8_t byte)
{
    switch (stream->offset++) {
    case 0:
        stream->missing = (uint16_t)(byte << 8);
        return QUERY_MORE;
    case 1:
        return take_length(stream, stream->missing | byte);
    case 2:
        stream->id = (uint16_t)(byte << 8);
        return QUERY_MORE;
    case 3:
        stream->id = (uint16_t)(stream->id | byte);
        return QUERY_MORE;
    case 4:
        stream->status = byte;
        return QUERY_MORE;
    default:
        stream->status = status_of(stream->status, byte);
        return QUERY_MORE;
    }
}

/* Takes a whole answer.  Returns false if there is less, or if it is malformed. */
static bool take_whole(struct query_stream *stream, struct query_input *in)
{
    const uint8_t *head = in->data;
    size_t length;

    if (stream->offset > 0 || in->n_bytes < HEAD_BYTES)
        return false;
    length = (size_t)(head[0] << 8 | head[1]);
    if (length < HEADER_BYTES || in->n_bytes - LENGTH_BYTES < length)
        return false;
    stream->id = (uint16_t)(head[2] << 8 | head[3]);
    stream->status = status_of(head[4], head[5]);
    in->data += LENGTH_BYTES + length;
    in->n_bytes -= LENGTH_BYTES + length;
    return true;
}

/* Takes a part of what follows the head.  Returns whether that was all. */
static bool take_rest(struct query_stream *stream, struct query_input *in)
{
    const size_t n_taken = stream->missing < in->n_bytes ? stream->missing : in->n_bytes;

    in->data += n_taken;
    in->n_bytes -= n_taken;
    stream->missing = (uint16_t)(stream->missing - n_taken);
    if (stream->missing > 0)
        return false;
    stream->offset = 0;
    return true;
}

static enum query_event next(const struct query *q, struct query_stream *stream,
                             struct query_input *in)
{
    (void)q;
    if (take_whole(stream, in)) /* nearly always */
        return QUERY_REPLY;
    while (in->n_bytes > 0) {
        if (stream->offset == HEAD_BYTES) {
            if (take_rest(stream, in))
                return QUERY_REPLY;
            continue;
        }
        in->n_bytes--;
        if (take_byte(stream, *in->data++) == QUERY_MALFORMED)
            return QUERY_MALFORMED;
    }
    return QUERY_MORE;
}

const struct query_protocol query_dns_protocol = {
    .name = "dns",
    .has_id = true,
    .has_code = true,
    .id_offset = LENGTH_BYTES,
    .init = init,
    .next = next,
};
