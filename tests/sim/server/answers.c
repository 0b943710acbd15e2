/* SPDX-License-Identifier: MIT
 * answers: see answers.h. */
#include "answers.h"

#include "clients.h"
#include "violation.h"
#include "world.h"

#include <inttypes.h>

/* Greatest age of a message on a host that is not overloaded. */
#define MOST_LAG_NS 1000000000ull

static struct push_pattern pattern;

void answers_begin(void)
{
    push_pattern_fill(&pattern);
}

uint8_t answers_byte(uint64_t c, uint64_t k)
{
    static const uint8_t word[4] = {'P', 'i', 'n', 'g'}, letters[8] = "PPPingX";
    uint64_t hash;

    if (clients.config->protocol != SERVER_PING)
        return (uint8_t)((c * 0x9e3779b97f4a7c15ull + k) * 0xbf58476d1ce4e5b9ull >> 40);
    k += c;
    hash = world_mix(world_mix(world.scenario.seed, c), k / 4);
    return (hash & 1) != 0 ? word[k % 4] : letters[hash >> (8 + 3 * (k % 4)) & 7];
}

void answers_expect(struct client *c, uint8_t byte)
{
    c->word = c->word << 8 | byte;
    if (clients_push())
        return;
    if (clients.config->protocol != SERVER_PING)
        c->expected++;
    else if (c->word == 0x50696e67) /* "Ping", which does not overlap itself */
        c->expected += 4;
}

static void check_answer(struct client *c, const uint8_t *data, size_t n_bytes)
{
    const uint64_t id = (uint64_t)(c - clients.all);

    LAW(c->answered + n_bytes <= c->expected,
        "client %" PRIu64 ": answer of %" PRIu64 " bytes, %" PRIu64 " expected", id,
        c->answered + n_bytes, c->expected);
    for (size_t k = 0; k < n_bytes; k++) {
        const uint64_t at = c->answered + k;
        const uint8_t expected = clients.config->protocol == SERVER_PING ? (uint8_t) "Pong"[at % 4]
                                                                         : answers_byte(id, at);

        LAW(data[k] == expected, "client %" PRIu64 ": byte %" PRIu64 " is %02x, not %02x", id, at,
            data[k], expected);
    }
}

static void take_message(struct client *c)
{
    const struct push_message *m = &c->stream.message;
    uint64_t n_lost;

    LAW(push_sequence_take(&c->next_sequence, m->sequence, &n_lost), "message %" PRIu64 " again",
        m->sequence);
    LAW(m->intended_ns <= m->sent_ns && m->sent_ns <= world.now_ns && m->sent_ns >= c->accepted_ns,
        "message %" PRIu64 " of a wrong time", m->sequence);
    LAW(m->sent_ns - m->intended_ns < MOST_LAG_NS, "message %" PRIu64 ": %" PRIu64 " ns late",
        m->sequence, m->sent_ns - m->intended_ns);
    if (m->sequence > 0) {
        LAW(n_lost < m->sequence, "message %" PRIu64 " without a greeting", m->sequence);
        LAW(m->intended_ns >= c->intended_ns, "message %" PRIu64 " was due before the one before",
            m->sequence);
        c->intended_ns = m->intended_ns;
        LAW(c->received > 0, "a message before the subscription");
        LAW(m->n_bytes == clients.config->push_bytes, "message of %u bytes", m->n_bytes);
        clients_figures.n_messages++;
        clients_figures.n_gaps += n_lost;
    }
}

static void check_pushed(struct client *c, const uint8_t *data, size_t n_bytes)
{
    struct query_input in = {.data = data, .n_bytes = n_bytes};
    enum push_event event;

    while ((event = push_next(&c->stream, &pattern, &in)) != PUSH_MORE) {
        LAW(event == PUSH_MESSAGE, "message %" PRIu64 " is damaged", c->stream.message.sequence);
        take_message(c);
    }
    c->expected = c->answered + n_bytes;
}

void answers_check(struct client *c, const uint8_t *data, size_t n_bytes)
{
    if (clients_push())
        check_pushed(c, data, n_bytes);
    else
        check_answer(c, data, n_bytes);
    c->answered += n_bytes;
}
