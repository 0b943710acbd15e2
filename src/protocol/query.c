/* SPDX-License-Identifier: MIT
 * query: see protocol/query.h. */
#include "protocol/query.h"

#include <stdlib.h>
#include <string.h>

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
