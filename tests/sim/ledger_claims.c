/* SPDX-License-Identifier: MIT
 * ledger_claims: intercepts the calls between parts of the product (the linker's --wrap) that say
 * what happened to its queries, and passes them on to the ledger. */
#include "client/worker/conn.h"
#include "client/worker/demand.h"
#include "client/worker/query.h"
#include "client/worker/tls.h"
#include "client/worker/turnover.h"
#include "descriptor.h"
#include "ledger.h"
#include "ledger_entries.h"
#include "ledger_idle.h"
#include "ledger_tls.h"
#include "violation.h"

#include <stddef.h>

static uint32_t tcp_of(const struct client_conn *c)
{
    const struct descriptor *d = descriptor_of(c->socket.fd);

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
uint32_t __real_inflight_queue(struct inflight *t, struct inflight_list *list, uint32_t connection,
                               uint64_t intended_ns, uint8_t tag);
uint32_t __wrap_inflight_queue(struct inflight *t, struct inflight_list *list, uint32_t connection,
                               uint64_t intended_ns, uint8_t tag);
void __real_inflight_answered(struct inflight *t, struct inflight_list *list, uint32_t slot);
void __wrap_inflight_answered(struct inflight *t, struct inflight_list *list, uint32_t slot);
void __real_inflight_mark_written(struct inflight *t, struct inflight_list *list);
void __wrap_inflight_mark_written(struct inflight *t, struct inflight_list *list);
void __real_inflight_expire(struct inflight *t, struct inflight_list *list, uint32_t slot);
void __wrap_inflight_expire(struct inflight *t, struct inflight_list *list, uint32_t slot);

void __wrap_client_query_sent(struct client_queries *qs, struct inflight_query *q, uint64_t sent_ns)
{
    ledger_on_sent(tcp_of(&qs->transport->conns[q->connection]), q,
                   (uint32_t)(q - qs->inflight.slots), sent_ns);
    __real_client_query_sent(qs, q, sent_ns);
}

void __wrap_client_query_lost(struct client_queries *qs, struct client_conn *c,
                              struct outcome outcome)
{
    uint32_t slot = c->queries.waiting_head, n_waiting = 0;

    for (; slot != INFLIGHT_NONE && slot != c->queries.queued_head;
         slot = inflight_at(&qs->inflight, slot)->conn_next)
        n_waiting++;
    if (descriptor_of(c->socket.fd) != NULL)
        ledger_on_lost(tcp_of(c), n_waiting);
    __real_client_query_lost(qs, c, outcome);
}

uint32_t __wrap_inflight_queue(struct inflight *t, struct inflight_list *list, uint32_t connection,
                               uint64_t intended_ns, uint8_t tag)
{
    const uint32_t slot = __real_inflight_queue(t, list, connection, intended_ns, tag);

    if (slot != INFLIGHT_NONE)
        ledger_on_queued(slot);
    return slot;
}

void __wrap_inflight_answered(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    const struct inflight_query *q = inflight_at(t, slot);

    ledger_on_answered(tcp_of_query(t, q), q);
    __real_inflight_answered(t, list, slot);
}

void __wrap_inflight_mark_written(struct inflight *t, struct inflight_list *list)
{
    const struct inflight_query *q = inflight_at(t, list->waiting_head);

    if (tcp_at(tcp_of_query(t, q))->is_secure)
        ledger_entry_begin(tcp_of_query(t, q), q->id);
    __real_inflight_mark_written(t, list);
}

void __wrap_inflight_expire(struct inflight *t, struct inflight_list *list, uint32_t slot)
{
    const struct inflight_query *q = inflight_at(t, slot);

    ledger_on_expired(tcp_of_query(t, q), q);
    __real_inflight_expire(t, list, slot);
}

/* --- connections on demand --- */

uint32_t __real_client_demand_queue(struct client_demand *d, uint32_t slot, uint64_t intended_ns,
                                    uint8_t class);
uint32_t __wrap_client_demand_queue(struct client_demand *d, uint32_t slot, uint64_t intended_ns,
                                    uint8_t class);
void __real_client_conn_become_usable(struct client_conn *c);
void __wrap_client_conn_become_usable(struct client_conn *c);

/* Whether the client has a connection that takes queries. */
static bool has_usable(const struct client_conn *c)
{
    return c->state != CLIENT_CONN_NEW && descriptor_of(c->socket.fd) != NULL &&
           c->state != CLIENT_CONN_ENDED && ledger_idle_is_usable(tcp_of(c));
}

uint32_t __wrap_client_demand_queue(struct client_demand *d, uint32_t slot, uint64_t intended_ns,
                                    uint8_t class)
{
    const bool is_open = has_usable(&d->transport->conns[slot]);
    const uint32_t q = __real_client_demand_queue(d, slot, intended_ns, class);

    LAW(q == INFLIGHT_NONE ||
            !(inflight_at(&d->queries->inflight, q)->tag & CLIENT_QUERY_WAITED) == is_open,
        "client %u: its connection is %s, but the query %s", slot, is_open ? "open" : "not open",
        is_open ? "waits" : "does not wait");
    return q;
}

void __wrap_client_conn_become_usable(struct client_conn *c)
{
    __real_client_conn_become_usable(c);
    if (c->transport->config->on_demand)
        ledger_idle_usable(tcp_of(c));
}

/* --- connections --- */

int __real_client_tls_send(struct client_conn *c, const uint8_t *data, size_t n_bytes);
int __wrap_client_tls_send(struct client_conn *c, const uint8_t *data, size_t n_bytes);
int __real_client_tls_send_own(struct client_conn *c);
int __wrap_client_tls_send_own(struct client_conn *c);
int __real_client_tls_send_step(struct client_conn *c);
int __wrap_client_tls_send_step(struct client_conn *c);
int __real_client_tls_begin(struct client_conn *c);
int __wrap_client_tls_begin(struct client_conn *c);
void __real_client_tls_record_handshake(struct client_conn *c, uint64_t handshake_ns);
void __wrap_client_tls_record_handshake(struct client_conn *c, uint64_t handshake_ns);
void __real_client_conn_close(struct client_conn *c, struct outcome outcome, int error);
void __wrap_client_conn_close(struct client_conn *c, struct outcome outcome, int error);
void __real_client_turnover_cancel(struct client_turnover *to);
void __wrap_client_turnover_cancel(struct client_turnover *to);

int __wrap_client_tls_send(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    const int error = __real_client_tls_send(c, data, n_bytes);

    tcp_at(tcp_of(c))->tls.has_lost_record |= error != 0;
    return error;
}

int __wrap_client_tls_send_own(struct client_conn *c)
{
    int error;

    ledger_hold_turn(true);
    error = __real_client_tls_send_own(c);
    ledger_hold_turn(false);
    return error;
}

int __wrap_client_tls_send_step(struct client_conn *c)
{
    int error;

    ledger_hold_turn(true);
    error = __real_client_tls_send_step(c);
    ledger_hold_turn(false);
    return error;
}

int __wrap_client_tls_begin(struct client_conn *c)
{
    ledger_tls_on_begin(tcp_of(c));
    return __real_client_tls_begin(c);
}

void __wrap_client_tls_record_handshake(struct client_conn *c, uint64_t handshake_ns)
{
    ledger_tls_on_secured(tcp_of(c), handshake_ns);
    __real_client_tls_record_handshake(c, handshake_ns);
}

void __wrap_client_conn_close(struct client_conn *c, struct outcome outcome, int error)
{
    const struct client_class *class = client_conn_class(c);
    const bool as_idle = outcome.reason == REASON_IDLE || outcome.reason == REASON_KEEPALIVE;

    if (c->state == CLIENT_CONN_SECURING)
        ledger_tls_on_close(tcp_of(c), outcome);
    if (c->transport->config->on_demand && c->state == CLIENT_CONN_LIVE)
        ledger_idle_close(
            tcp_of(c), class != NULL ? class->idle_close_ns : c->transport->config->idle_close_ns,
            as_idle, c->queries.head != INFLIGHT_NONE);
    __real_client_conn_close(c, outcome, error);
}

/* No connection opens after this. */
void __wrap_client_turnover_cancel(struct client_turnover *to)
{
    const struct client_transport *t = to->transport;

    __real_client_turnover_cancel(to);
    for (uint32_t i = 0; i < t->n_conns; i++)
        LAW(t->conns[i].state == CLIENT_CONN_NEW || t->conns[i].state > CLIENT_CONN_PROVING,
            "connection %u goes on opening after the stop", i);
}
