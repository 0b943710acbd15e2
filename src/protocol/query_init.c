/* SPDX-License-Identifier: MIT
 * query_init: see protocol/query_init.h. */
#include "protocol/query_init.h"

#include "protocol/query_dns.h"
#include "protocol/query_echo.h"
#include "protocol/query_ping.h"

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
