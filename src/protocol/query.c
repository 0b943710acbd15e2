/* SPDX-License-Identifier: MIT
 * query: see protocol/query.h. */
#include "protocol/query.h"

#include "protocol/query_dns.h"
#include "protocol/query_echo.h"
#include "protocol/query_ping.h"

#include <stdlib.h>
#include <string.h>

/* In the order of QUERY_PROTOCOLS. */
static const struct query_protocol *const protocols[] = {
    &query_dns_protocol,
    &query_ping_protocol,
    &query_echo_protocol,
};

int query_init(struct query *q, int index, const struct query_ask *ask, char *error)
{
    *q = (struct query){.protocol = protocols[index], .n_queries = 1};
    if (q->protocol->init(q, ask, error) == 0)
        return 0;
    query_free(q);
    return -1;
}

void query_free(struct query *q)
{
    free(q->bytes);
    q->bytes = NULL;
}

size_t query_at(const struct query *q, size_t index)
{
    size_t at = 0;

    while (index-- > 0)
        at = query_after(q, at);
    return at;
}

void query_encode(const struct query *q, size_t at, uint16_t id, uint8_t *out)
{
    memcpy(out, q->bytes + at, query_size(q, at));
    if (q->protocol->has_id) {
        out[q->protocol->id_offset] = (uint8_t)(id >> 8);
        out[q->protocol->id_offset + 1] = (uint8_t)id;
    }
}
