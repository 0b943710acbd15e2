/* SPDX-License-Identifier: MIT
 * peer_answer: see peer_answer.h. */
#include "peer_answer.h"

#include "classes.h"
#include "tcp.h"
#include "world.h"

#include <string.h>

enum { DNS_HEADER_BYTES = 12, KEEPALIVE_BYTES = 17, MOST_EXTRA_BYTES = 40 };
enum { MOST_DATAGRAM_BYTES = 65507 }; /* of IPv4 */

/* An OPT record with edns-tcp-keepalive, as the only record of an answer. */
static void encode_keepalive(uint8_t *answer, bool is_bad)
{
    static const uint8_t opt[KEEPALIVE_BYTES] = {0, 0, 41, 4,  208, 0, 0, 0, 0,
                                                 0, 6, 0,  11, 0,   2, 0, 0};
    uint8_t *record = answer + DNS_HEADER_BYTES;

    answer[DNS_HEADER_BYTES - 1] = 1;
    memcpy(record, opt, sizeof opt);
    record[14] = is_bad ? (uint8_t)(3 + world_up_to(9)) : 2; /* the option's length */
    record[16] = (uint8_t)world_up_to(world.scenario.keepalive_most);
}

/* Bytes of an answer without keepalive; one in ten has the maximum length. */
static size_t draw_bytes(const struct tcp *t)
{
    const uint64_t most_of_ip = t->is_datagram ? MOST_DATAGRAM_BYTES : UINT16_MAX;
    const uint64_t most =
        world.scenario.answer_bytes < most_of_ip ? world.scenario.answer_bytes : most_of_ip;

    if (most <= DNS_HEADER_BYTES)
        return DNS_HEADER_BYTES + (size_t)world_up_to(MOST_EXTRA_BYTES);
    return world_chance(100) ? most : DNS_HEADER_BYTES + world_up_to(most - DNS_HEADER_BYTES);
}

size_t peer_answer_encode(const struct tcp *t, uint8_t *out, uint16_t id, bool is_malformed)
{
    const struct query *query = classes_query(t);

    if (query->protocol->has_id) {
        const bool is_bad = world_chance(world.scenario.keepalive_bad_permille);
        const bool is_kept = is_bad || world_chance(world.scenario.keepalive_permille);
        const size_t n = is_kept ? DNS_HEADER_BYTES + KEEPALIVE_BYTES : draw_bytes(t);
        const size_t said = is_malformed ? world_up_to(DNS_HEADER_BYTES - 1) : n;

        memset(out, 0, 2 + n);
        if (is_kept)
            encode_keepalive(out + 2, is_bad);
        out[0] = (uint8_t)(said >> 8);
        out[1] = (uint8_t)said;
        out[2] = (uint8_t)(id >> 8);
        out[3] = (uint8_t)id;
        out[4] = (uint8_t)(world_chance(20) ? 0x00 : world_chance(20) ? 0x82 : 0x80);
        out[5] = (uint8_t)(0x80 | (world_chance(50) ? world_up_to(15) : 0));
        return 2 + (t->is_datagram ? said : n);
    }
    if (query->bytes[0] == 'P') {
        memcpy(out, "Pong", 4);
        return 4;
    }
    memcpy(out, query->bytes, query->n_bytes);
    out[world_up_to(query->n_bytes - 1)] ^= is_malformed;
    return query->n_bytes;
}
