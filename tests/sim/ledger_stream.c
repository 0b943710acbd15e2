/* SPDX-License-Identifier: MIT
 * ledger_stream: see ledger_stream.h. */
#include "ledger_stream.h"

#include "ledger.h"
#include "tcp.h"

enum { DNS_HEADER_BYTES = 12 };

static bool take_dns_byte(struct tcp *t, uint8_t byte, bool *is_malformed)
{
    struct tcp_ledger *l = &t->ledger;

    if (l->offset < 2)
        l->missing = l->missing << 8 | byte;
    else if (l->offset < 4)
        l->id = (uint16_t)(l->id << 8 | byte);
    l->offset++;
    *is_malformed = l->offset == 2 && l->missing < DNS_HEADER_BYTES;
    if (l->offset < 2 || l->offset != 2 + l->missing)
        return false;
    l->offset = l->missing = 0;
    return true;
}

static bool take_plain_byte(struct tcp *t, const struct query *query, uint8_t byte,
                            bool *is_malformed)
{
    struct tcp_ledger *l = &t->ledger;

    *is_malformed = query->bytes[0] != 'P' && byte != query->bytes[l->offset];
    if (++l->offset < query->n_bytes)
        return false;
    l->offset = 0;
    return true;
}

size_t ledger_stream_whole(struct tcp *t, const struct query *query, const uint8_t *data,
                           size_t n_bytes)
{
    const size_t said = n_bytes >= 4 ? (size_t)data[0] << 8 | data[1] : 0;

    if (!query->protocol->has_id || t->ledger.offset > 0 || said < DNS_HEADER_BYTES ||
        n_bytes < 2 + said)
        return 0;
    t->ledger.id = (uint16_t)(data[2] << 8 | data[3]);
    return 2 + said;
}

size_t ledger_stream_skip_malformed(const struct tcp *t, const uint8_t *data, bool is_sure)
{
    const size_t said = t->is_datagram ? (size_t)data[0] << 8 | data[1] : DNS_HEADER_BYTES;

    if (said >= DNS_HEADER_BYTES)
        return 0;
    ledger_sums.n_malformed++;
    ledger_sums.n_malformed_unsure += !is_sure;
    return 2 + said;
}

bool ledger_stream_take(struct tcp *t, const struct query *query, uint8_t byte, bool *is_malformed)
{
    return query->protocol->has_id ? take_dns_byte(t, byte, is_malformed)
                                   : take_plain_byte(t, query, byte, is_malformed);
}
