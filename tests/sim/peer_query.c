/* SPDX-License-Identifier: MIT
 * peer_query: see peer_query.h. */
#include "peer_query.h"

#include "violation.h"

#include <string.h>

/* Takes the next byte of a query, and excludes the candidates that have another byte there. Returns
 * the size of the remaining ones, which is the same for all once the length was read. */
static size_t take_byte(struct tcp *t, const struct query *query, uint8_t byte)
{
    const uint32_t offset = t->peer.offset++;
    const uint32_t id_at = query->protocol->id_offset;
    const bool is_id = query->protocol->has_id && offset - id_at < 2;
    size_t at = 0, n_bytes = 0;
    uint8_t expected = 0;

    if (is_id)
        t->peer.id[offset - id_at] = byte;
    for (size_t k = 0; k < query->n_queries; k++, at = query_after(query, at)) {
        if (t->peer.excluded & 1u << k)
            continue;
        expected = query->bytes[at + offset];
        if (is_id || expected == byte)
            n_bytes = query_size(query, at);
        else
            t->peer.excluded |= (uint8_t)(1u << k);
    }
    LAW(n_bytes > 0, "fd %d: byte %u of a query is %02x, not %02x", t->fd, offset, byte, expected);
    return n_bytes;
}

/* Compares a query that has arrived as a whole.  Returns whether it is the only possible one; if
 * not, take_byte() finds the difference. */
static bool is_the_only_one(struct tcp *t, const struct query *query, const uint8_t *data,
                            size_t n_bytes)
{
    const uint32_t id_at = query->protocol->id_offset;
    const uint32_t rest_at = query->protocol->has_id ? id_at + 2 : 0;

    if (t->peer.offset > 0 || query->n_queries > 1 || n_bytes < query->n_bytes)
        return false;
    if (rest_at > 0)
        memcpy(t->peer.id, data + id_at, 2);
    return (rest_at == 0 || memcmp(data, query->bytes, id_at) == 0) &&
           memcmp(data + rest_at, query->bytes + rest_at, query->n_bytes - rest_at) == 0;
}

size_t peer_query_take(struct tcp *t, const struct query *query, const uint8_t *data,
                       size_t n_bytes, bool *is_whole, uint16_t *id)
{
    size_t n_taken = 0, size = SIZE_MAX;

    LAW(query->n_queries <= PEER_QUERY_MOST, "not simulated: %zu queries", query->n_queries);
    if (is_the_only_one(t, query, data, n_bytes))
        t->peer.offset = (uint32_t)(size = n_taken = query->n_bytes);
    while (n_taken < n_bytes && t->peer.offset < size)
        size = take_byte(t, query, data[n_taken++]);
    *is_whole = t->peer.offset == size;
    *id = (uint16_t)(t->peer.id[0] << 8 | t->peer.id[1]);
    if (*is_whole)
        t->peer.offset = t->peer.excluded = 0;
    return n_taken;
}
