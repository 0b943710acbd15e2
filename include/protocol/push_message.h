/* SPDX-License-Identifier: MIT
 * push_message: what a pushing tcpserver writes and a listening tcpclient reads.
 *
 * Pure.  A connection is a sequence of messages from the server alone.  The first, number 0, is the
 * greeting: it comes as soon as the connection is accepted and proves that it was.  Numbers go up
 * by one, so that a gap is a loss.  All fields are big-endian:
 *
 *    0  u32  length of the message in bytes, these included
 *    4  u32  0x54504d31, "TPM1": magic and version
 *    8  u64  sequence number of the connection, from 0 to 2^40 - 1
 *   16  u64  intended time of sending: CLOCK_MONOTONIC of the sender, ns
 *   24  u64  when it was handed to the socket, likewise
 *   32  u64  ns to add to these for its CLOCK_REALTIME
 *   40  u64  identity of that CLOCK_MONOTONIC (clock_identity()); 0: not known
 *   48  u32  check of the bytes before
 *   52  ...  byte i of the rest is (check + i) modulo 256
 */
#ifndef TCPSCALER_PROTOCOL_PUSH_MESSAGE_H
#define TCPSCALER_PROTOCOL_PUSH_MESSAGE_H

#include "protocol/query.h"

#include <stdbool.h>
#include <stdint.h>

#define PUSH_MAGIC        0x54504d31u
#define PUSH_HEADER_BYTES 52u
#define PUSH_MIN_BYTES    64u
#define PUSH_MAX_BYTES    65536u

/* A million messages per second reach it in 12 days.  Even if servers claim it on 16 million
 * connections, the sum of the messages lost does not wrap. */
#define PUSH_LAST_SEQUENCE ((1ull << 40) - 1)

struct push_message {
    uint32_t n_bytes;  /* PUSH_MIN_BYTES .. PUSH_MAX_BYTES */
    uint64_t sequence; /* 0: greeting */
    uint64_t intended_ns, sent_ns;
    uint64_t realtime_offset_ns;
    uint64_t clock_id;
};

/* The bytes 0, 1, 2 ... modulo 256, from which payloads are copied and with which they are
 * compared.  Initialized once, then read-only. */
struct push_pattern {
    uint8_t bytes[PUSH_MAX_BYTES + 256];
};

void push_pattern_fill(struct push_pattern *pattern);

/* Writes message->n_bytes. */
void push_encode(const struct push_message *message, const struct push_pattern *pattern,
                 uint8_t *out);

/* The current message; all zero at the start, offset 0 between messages. */
struct push_stream {
    struct push_message message; /* valid once the header is complete */
    uint32_t offset;             /* bytes received so far */
    uint32_t check;
    bool damaged;
    uint8_t header[PUSH_HEADER_BYTES];
};

enum push_event {
    PUSH_MORE,     /* all input consumed, no complete message in it */
    PUSH_MESSAGE,  /* one complete, undamaged message; input may be left */
    PUSH_DAMAGED,  /* likewise, but the payload is damaged */
    PUSH_MALFORMED /* invalid header: the rest of the stream is unusable */
};

/* Consumes input up to the end of the next message, which then is stream->message until the next
 * call. */
enum push_event push_next(struct push_stream *stream, const struct push_pattern *pattern,
                          struct query_input *in);

/* *next: the number expected on this connection, 0 at its start.  Returns whether the message is
 * new; *n_lost: number of messages missing before it.  A lower number is a duplicate: TCP does not
 * reorder. */
bool push_sequence_take(uint64_t *next, uint64_t sequence, uint64_t *n_lost);

#endif
