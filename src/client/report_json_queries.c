/* SPDX-License-Identifier: MIT
 * report_json_queries: see client/report_json_queries.h. */
#include "client/report_json_queries.h"

void report_json_queries(struct json *j, const struct tally_queries *q)
{
    json_u64(j, "scheduled", tally_get(&q->scheduled));
    json_u64(j, "sent", tally_get(&q->sent));
    json_u64(j, "unsent", tally_get(&q->unsent));
    json_u64(j, "answered", tally_get(&q->answered));
    json_u64(j, "timeout", tally_get(&q->timeout));
    json_u64(j, "error", tally_get(&q->error));
    json_u64(j, "cancelled", tally_get(&q->cancelled));
    json_u64(j, "blocked", tally_get(&q->blocked));
    json_u64(j, "rerouted", tally_get(&q->rerouted));
    json_u64(j, "unconnected", tally_get(&q->unconnected));
}
