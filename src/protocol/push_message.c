/* SPDX-License-Identifier: MIT
 * push_message: see protocol/push_message.h. */
#include "protocol/push_message.h"

#include <endian.h>
#include <string.h>

enum { AT_LENGTH = 0, AT_MAGIC = 4, AT_SEQUENCE = 8, AT_INTENDED = 16, AT_SENT = 24 };
enum { AT_OFFSET = 32, AT_CLOCK = 40, AT_CHECK = 48 };

static void put_u32(uint8_t *out, uint32_t value)
{
    value = htobe32(value);
    memcpy(out, &value, sizeof value);
}

static void put_u64(uint8_t *out, uint64_t value)
{
    value = htobe64(value);
    memcpy(out, &value, sizeof value);
}

static uint32_t get_u32(const uint8_t *in)
{
    uint32_t value;

    memcpy(&value, in, sizeof value);
    return be32toh(value);
}

static uint64_t get_u64(const uint8_t *in)
{
    uint64_t value;

    memcpy(&value, in, sizeof value);
    return be64toh(value);
}

/* Multiplies each word by 2^64 / golden ratio: every bit of the header reaches the upper half. */
static uint32_t check_of(const uint8_t *header)
{
    uint64_t h = 0;

    for (unsigned at = 0; at < AT_CHECK; at += 8)
        h = (h ^ get_u64(header + at)) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(h >> 32);
}

void push_pattern_fill(struct push_pattern *pattern)
{
    for (size_t i = 0; i < sizeof pattern->bytes; i++)
        pattern->bytes[i] = (uint8_t)i;
}

static const uint8_t *payload(const struct push_pattern *pattern, uint32_t check, uint32_t offset)
{
    return pattern->bytes + ((check + PUSH_HEADER_BYTES) & 0xff) + (offset - PUSH_HEADER_BYTES);
}

void push_encode(const struct push_message *message, const struct push_pattern *pattern,
                 uint8_t *out)
{
    uint32_t check;

    put_u32(out + AT_LENGTH, message->n_bytes);
    put_u32(out + AT_MAGIC, PUSH_MAGIC);
    put_u64(out + AT_SEQUENCE, message->sequence);
    put_u64(out + AT_INTENDED, message->intended_ns);
    put_u64(out + AT_SENT, message->sent_ns);
    put_u64(out + AT_OFFSET, message->realtime_offset_ns);
    put_u64(out + AT_CLOCK, message->clock_id);
    check = check_of(out);
    put_u32(out + AT_CHECK, check);
    memcpy(out + PUSH_HEADER_BYTES, payload(pattern, check, PUSH_HEADER_BYTES),
           message->n_bytes - PUSH_HEADER_BYTES);
}

static bool decode(struct push_stream *stream)
{
    const uint8_t *h = stream->header;
    struct push_message *m = &stream->message;

    m->n_bytes = get_u32(h + AT_LENGTH);
    m->sequence = get_u64(h + AT_SEQUENCE);
    m->intended_ns = get_u64(h + AT_INTENDED);
    m->sent_ns = get_u64(h + AT_SENT);
    m->realtime_offset_ns = get_u64(h + AT_OFFSET);
    m->clock_id = get_u64(h + AT_CLOCK);
    stream->check = get_u32(h + AT_CHECK);
    return get_u32(h + AT_MAGIC) == PUSH_MAGIC && stream->check == check_of(h) &&
           m->n_bytes >= PUSH_MIN_BYTES && m->n_bytes <= PUSH_MAX_BYTES &&
           m->sequence <= PUSH_LAST_SEQUENCE;
}

/* How many input bytes belong to the part of the message that ends at `end`. */
static uint32_t piece(const struct push_stream *stream, uint32_t end, const struct query_input *in)
{
    const uint32_t left = end - stream->offset;

    return in->n_bytes < left ? (uint32_t)in->n_bytes : left;
}

static void consume(struct push_stream *stream, struct query_input *in, uint32_t n_bytes)
{
    stream->offset += n_bytes;
    in->data += n_bytes;
    in->n_bytes -= n_bytes;
}

enum push_event push_next(struct push_stream *stream, const struct push_pattern *pattern,
                          struct query_input *in)
{
    uint32_t n;

    if (stream->offset < PUSH_HEADER_BYTES) {
        n = piece(stream, PUSH_HEADER_BYTES, in);
        memcpy(stream->header + stream->offset, in->data, n);
        consume(stream, in, n);
        if (stream->offset < PUSH_HEADER_BYTES)
            return PUSH_MORE;
        if (!decode(stream))
            return PUSH_MALFORMED;
        stream->damaged = false;
    }
    n = piece(stream, stream->message.n_bytes, in);
    stream->damaged |= memcmp(in->data, payload(pattern, stream->check, stream->offset), n) != 0;
    consume(stream, in, n);
    if (stream->offset < stream->message.n_bytes)
        return PUSH_MORE;
    stream->offset = 0;
    return stream->damaged ? PUSH_DAMAGED : PUSH_MESSAGE;
}

bool push_sequence_take(uint64_t *next, uint64_t sequence, uint64_t *n_lost)
{
    const bool is_new = sequence >= *next;

    *n_lost = is_new ? sequence - *next : 0;
    if (is_new)
        *next = sequence + 1;
    return is_new;
}
