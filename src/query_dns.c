/* SPDX-License-Identifier: MIT
 * query_dns: see query_dns.h. */
#include "query_dns.h"

#include "dns_message.h"
#include "dns_name.h"
#include "dns_type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 2, HEADER_BYTES = 12, REASON_BYTES = 160, MOST_SHOWN = 70 };

#define REFUSE(...) (snprintf(error, QUERY_ERROR_BYTES, __VA_ARGS__), -1)

static int parse_name(struct dns_question *question, const char *name, size_t n, char *reason)
{
    question->n_name = (uint16_t)dns_name_parse(name, n, question->name);
    if (question->n_name > 0)
        return 0;
    snprintf(reason, REASON_BYTES, "'%.*s' is not a domain name: accepted are " DNS_NAME_ACCEPTED,
             n < MOST_SHOWN ? (int)n : MOST_SHOWN, name);
    return -1;
}

static int parse_type(struct dns_question *question, const char *type, size_t n, char *reason)
{
    if (dns_type_parse(type, n, &question->type) == 0)
        return 0;
    snprintf(reason, REASON_BYTES, "'%.*s' is not a type: accepted is " DNS_TYPE_ACCEPTED,
             n < MOST_SHOWN ? (int)n : MOST_SHOWN, type);
    return -1;
}

static int init(struct query *q, const struct query_ask *ask, char *error)
{
    const char *qname = ask->qname != NULL ? ask->qname : "example.com";
    const char *qtype = ask->qtype != NULL ? ask->qtype : "A";
    struct dns_question question;
    char reason[REASON_BYTES];

    if (parse_name(&question, qname, strlen(qname), reason) != 0)
        return REFUSE("--qname: %s", reason);
    if (parse_type(&question, qtype, strlen(qtype), reason) != 0)
        return REFUSE("--qtype: %s", reason);
    q->bytes = malloc(DNS_MESSAGE_BYTES);
    if (q->bytes == NULL)
        return REFUSE("no memory for a query");
    q->n_bytes = dns_message_encode(q->bytes, &question, &ask->edns);
    return 0;
}

/* The length and the id come byte by byte, in whatever pieces. */
static enum query_event take_head(struct query_stream *stream, struct query_input *in)
{
    const uint8_t byte = *in->data++;

    in->n_bytes--;
    switch (stream->offset++) {
    case 0:
        stream->length = (uint16_t)(byte << 8);
        return QUERY_MORE;
    case 1:
        stream->length = (uint16_t)(stream->length | byte);
        return stream->length < HEADER_BYTES ? QUERY_MALFORMED : QUERY_MORE;
    case 2:
        stream->id = (uint16_t)(byte << 8);
        return QUERY_MORE;
    default:
        stream->id = (uint16_t)(stream->id | byte);
        return QUERY_MORE;
    }
}

static enum query_event next(const struct query *q, struct query_stream *stream,
                             struct query_input *in)
{
    (void)q;
    while (in->n_bytes > 0) {
        size_t missing, taken;

        if (stream->offset < LENGTH_BYTES + 2) {
            if (take_head(stream, in) == QUERY_MALFORMED)
                return QUERY_MALFORMED;
            continue;
        }
        missing = LENGTH_BYTES + (size_t)stream->length - stream->offset;
        taken = missing < in->n_bytes ? missing : in->n_bytes;
        in->data += taken;
        in->n_bytes -= taken;
        stream->offset += (uint32_t)taken;
        if (taken == missing) {
            stream->offset = 0;
            return QUERY_REPLY;
        }
    }
    return QUERY_MORE;
}

const struct query_protocol query_dns_protocol = {
    .name = "dns",
    .has_id = true,
    .id_offset = LENGTH_BYTES,
    .init = init,
    .next = next,
};
