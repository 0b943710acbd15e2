/* SPDX-License-Identifier: MIT
 * ledger_claims: what the product says of its queries, seen at the calls from one of its parts to
 * another (the linker's --wrap), passed on to the ledger. */
#include "client/worker/query.h"
#include "descriptor.h"
#include "ledger.h"
#include "violation.h"

#include <stddef.h>

static uint32_t tcp_of(const struct client_conn *c)
{
    const struct descriptor *d = descriptor_of(event_get_fd(&c->event));

    LAW(d != NULL && d->kind == DESCRIPTOR_SOCKET, "a query on a connection without socket");
    return d->tcp;
}

static uint32_t tcp_of_query(struct inflight *t, const struct inflight_query *q)
{
    const struct client_queries *qs =
        (const struct client_queries *)(const void *)((const char *)t -
                                                      offsetof(struct client_queries, inflight));

    return tcp_of(&qs->transport->conns[q->connection]);
}

void __real_client_query_sent(struct client_queries *qs, struct inflight_query *q,
                              uint64_t sent_ns);
void __wrap_client_query_sent(struct client_queries *qs, struct inflight_query *q,
                              uint64_t sent_ns);
void __real_client_query_lost(struct client_queries *qs, struct client_conn *c,
                              struct outcome outcome);
void __wrap_client_query_lost(struct client_queries *qs, struct client_conn *c,
                              struct outcome outcome);
void __real_inflight_answered(struct inflight *t, struct inflight_list *list, uint32_t slot);
void __wrap_inflight_answered(struct inflight *t, struct inflight_list *list, uint32_t slot);
void __real_inflight_expire(struct inflight *t, struct inflight_list *list, uint32_t slot);
void __wrap_inflight_expire(struct inflight *t, struct inflight_list *list, uint32_t slot);

void __wrap_client_query_sent(struct client_queries *qs, struct inflight_query *q, uint64_t sent_ns)
{
    ledger_on_sent(tcp_of(&qs->transport->conns[q->connection]), q, sent_ns);
    __real_client_query_sent(qs, q, sent_ns);
}

void __wrap_client_query_lost(struct client_queries *qs, struct client_conn *c,
                              struct outcome outcome)
{
    if (descriptor_of(event_get_fd(&c->event)) != NULL)
        ledger_on_lost(tcp_of(c));
    __real_client_query_lost(qs, c, outcome);
}

void __wrap_inflight_answered(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    const struct inflight_query *q = inflight_at(t, slot);

    ledger_on_answered(tcp_of_query(t, q), q);
    __real_inflight_answered(t, list, slot);
}

void __wrap_inflight_expire(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    const struct inflight_query *q = inflight_at(t, slot);

    ledger_on_expired(tcp_of_query(t, q), q);
    __real_inflight_expire(t, list, slot);
}
