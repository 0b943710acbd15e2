/* SPDX-License-Identifier: MIT
 * report_json_queries: see client/report_json_queries.h. */
#include "client/report_json_queries.h"

#define PUT_COUNT(count, word, which) json_u64(j, #count, tally_get(&q->count));

void report_json_queries(struct json *j, const struct tally_queries *q)
{
    json_u64(j, "scheduled", tally_get(&q->scheduled));
    json_u64(j, "sent", tally_get(&q->sent));
    json_u64(j, "unsent", tally_get(&q->unsent));
    json_u64(j, "answered", tally_get(&q->answered));
    TALLY_UNANSWERED(PUT_COUNT)
    json_u64(j, "blocked", tally_get(&q->blocked));
    json_u64(j, "rerouted", tally_get(&q->rerouted));
    json_u64(j, "unconnected", tally_get(&q->unconnected));
}
