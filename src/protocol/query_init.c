/* SPDX-License-Identifier: MIT
 * query_init: see protocol/query_init.h. */
#include "protocol/query_init.h"

#include "protocol/query_dns.h"
#include "protocol/query_echo.h"
#include "protocol/query_ping.h"

static const struct query_protocol *const protocols[QUERY_N_KINDS] = {
    [QUERY_DNS] = &query_dns_protocol,
    [QUERY_PING] = &query_ping_protocol,
    [QUERY_ECHO] = &query_echo_protocol,
};

int query_init(struct query *q, enum query_kind kind, const struct query_ask *ask, char *error)
{
    *q = (struct query){.protocol = protocols[kind], .n_queries = 1};
    if (q->protocol->init(q, ask, error) == 0)
        return 0;
    query_free(q);
    return -1;
}
