/* SPDX-License-Identifier: MIT
 * fuzz_push_message: an arbitrary stream of a pushing server, cut anywhere.  The cuts do not change
 * which messages are found, all input is consumed, an encoded message is found unchanged, and if
 * one of its bytes is changed, it is not, but the next one is.
 *
 * The first byte selects the cuts, the second the rest: 0 a stream, 1 a message's header and
 * payload length, with one byte changed. */
#include "fuzz.h"
#include "protocol/push_message.h"

#include <string.h>

enum { N_MODES = 2, MOST_MESSAGES = 1024 };

struct found {
    int n, n_damaged;
    bool malformed;
    uint64_t sequences[MOST_MESSAGES];
};

static const struct push_pattern *pattern(void)
{
    static struct push_pattern p;
    static bool is_filled;

    if (!is_filled)
        push_pattern_fill(&p);
    is_filled = true;
    return &p;
}

static void take_message(const struct push_stream *stream, enum push_event event,
                         struct found *found)
{
    const struct push_message *m = &stream->message;

    REQUIRE(m->n_bytes >= PUSH_MIN_BYTES && m->n_bytes <= PUSH_MAX_BYTES && stream->offset == 0);
    if (found->n < MOST_MESSAGES)
        found->sequences[found->n] = m->sequence;
    found->n++;
    found->n_damaged += event == PUSH_DAMAGED;
}

/* Pieces in separate memory, so that sanitizers detect overruns. */
static void parse(const uint8_t *data, size_t n_bytes, size_t piece, struct found *found)
{
    struct push_stream stream = {.offset = 0};

    memset(found, 0, sizeof *found);
    for (size_t at = 0; at < n_bytes && !found->malformed; at += piece) {
        const size_t n = n_bytes - at < piece ? n_bytes - at : piece;
        uint8_t *copy = malloc(n);
        struct query_input in = {copy, n};
        enum push_event event;

        REQUIRE(copy != NULL);
        memcpy(copy, data + at, n);
        while ((event = push_next(&stream, pattern(), &in)) == PUSH_MESSAGE ||
               event == PUSH_DAMAGED)
            take_message(&stream, event, found);
        REQUIRE(event != PUSH_MORE || in.n_bytes == 0);
        found->malformed = event == PUSH_MALFORMED;
        free(copy);
    }
}

static void take_stream(const uint8_t *data, size_t n_bytes, size_t piece)
{
    static struct found whole, cut;

    parse(data, n_bytes, n_bytes > 0 ? n_bytes : 1, &whole);
    parse(data, n_bytes, piece, &cut);
    REQUIRE(memcmp(&whole, &cut, sizeof whole) == 0);
}

/* The number of lost messages is the gap between sequence numbers. */
static void check_sequence(uint64_t first, uint64_t second)
{
    uint64_t next = first, n_lost;
    const bool is_new = push_sequence_take(&next, second, &n_lost);

    REQUIRE(is_new == (second >= first));
    REQUIRE(n_lost == (is_new ? second - first : 0) && next == (is_new ? second + 1 : first));
}

static void take_message_of(const uint8_t *data, size_t n_bytes, size_t piece)
{
    static uint8_t out[PUSH_MAX_BYTES + PUSH_MIN_BYTES];
    const struct push_message behind = {.n_bytes = PUSH_MIN_BYTES, .sequence = 1};
    struct push_message m = {.n_bytes = PUSH_MIN_BYTES};
    struct found found;
    uint32_t at;

    if (n_bytes < sizeof m + sizeof at)
        return;
    memcpy(&m, data, sizeof m);
    memcpy(&at, data + sizeof m, sizeof at);
    m.n_bytes = PUSH_MIN_BYTES + m.n_bytes % (PUSH_MAX_BYTES - PUSH_MIN_BYTES + 1);
    m.sequence &= PUSH_LAST_SEQUENCE;
    check_sequence(m.sequence, m.intended_ns);
    push_encode(&m, pattern(), out);
    parse(out, m.n_bytes, piece, &found);
    REQUIRE(found.n == 1 && found.n_damaged == 0 && found.sequences[0] == m.sequence);
    out[at % m.n_bytes] ^= (uint8_t)(1 + data[0] % 255);
    push_encode(&behind, pattern(), out + m.n_bytes);
    parse(out, m.n_bytes + behind.n_bytes, piece, &found);
    if (found.malformed)
        REQUIRE(found.n == 0);
    else
        REQUIRE(found.n == 2 && found.n_damaged == 1 && found.sequences[1] == behind.sequence);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    size_t piece;

    if (n_bytes < 2 || n_bytes > FUZZ_MOST_BYTES)
        return 0;
    piece = 1u + data[0] * 4u;
    if (data[1] % N_MODES == 0)
        take_stream(data + 2, n_bytes - 2, piece);
    else
        take_message_of(data + 2, n_bytes - 2, piece);
    return 0;
}
