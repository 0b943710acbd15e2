/* SPDX-License-Identifier: MIT
 * query_dns: see query_dns.h. */
#include "query_dns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LENGTH_BYTES = 2,
    HEADER_BYTES = 12,
    NAME_MAX_BYTES = 255,
    LABEL_MAX_BYTES = 63,
    QUESTION_TAIL_BYTES = 4 /* type and class */
};

/* "www.example.com" or, for the root, "." -> labels with their lengths.  Returns bytes written, or
 * 0 when it is not a name. */
static size_t encode_name(const char *name, uint8_t out[NAME_MAX_BYTES])
{
    size_t n = 0;

    if (strcmp(name, ".") == 0)
        name++;
    else if (*name == '\0')
        return 0;
    while (*name != '\0') {
        size_t label = strcspn(name, ".");

        if (label == 0 || label > LABEL_MAX_BYTES || n + 1 + label + 1 > NAME_MAX_BYTES)
            return 0;
        out[n++] = (uint8_t)label;
        memcpy(out + n, name, label);
        n += label;
        name += label + (name[label] == '.');
    }
    out[n++] = 0;
    return n;
}

static int init(struct query *q, const char *qname, size_t size_bytes, char *error)
{
    static const uint8_t header[HEADER_BYTES] = {
        0,    0,             /* id */
        0x01, 0,             /* RD */
        0,    1,             /* one question */
        0,    0, 0, 0, 0, 0, /* nothing else */
    };
    static const uint8_t type_a_class_in[QUESTION_TAIL_BYTES] = {0, 1, 0, 1};
    uint8_t name[NAME_MAX_BYTES];
    size_t n_name = encode_name(qname != NULL ? qname : "example.com", name);
    size_t n_message = HEADER_BYTES + n_name + QUESTION_TAIL_BYTES;
    uint8_t *out;

    (void)size_bytes;
    if (n_name == 0) {
        snprintf(error, QUERY_ERROR_BYTES,
                 "--qname: '%.70s' is not a domain name: accepted are labels of 1 to 63 bytes, 255 "
                 "in all",
                 qname);
        return -1;
    }
    q->n_bytes = LENGTH_BYTES + n_message;
    q->bytes = out = malloc(q->n_bytes);
    if (out == NULL) {
        snprintf(error, QUERY_ERROR_BYTES, "no memory for a query");
        return -1;
    }
    *out++ = (uint8_t)(n_message >> 8);
    *out++ = (uint8_t)n_message;
    memcpy(out, header, sizeof header);
    memcpy(out + HEADER_BYTES, name, n_name);
    memcpy(out + HEADER_BYTES + n_name, type_a_class_in, sizeof type_a_class_in);
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
