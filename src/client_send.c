/* SPDX-License-Identifier: MIT
 * client_send: see client_send.h. */
#include "client_send.h"

#include "client_query.h"
#include "client_worker.h"
#include "clock.h"

#include <stdlib.h>

int client_send_init(struct client_worker *cw)
{
    cw->send.ring = calloc(cw->n_conns, sizeof *cw->send.ring);
    return cw->send.ring != NULL ? 0 : -1;
}

void client_send_free(struct client_worker *cw)
{
    free(cw->send.ring);
}

void client_send_join(struct client_conn *c)
{
    struct client_worker *cw = c->worker;
    struct client_send *s = &cw->send;

    if (c->in_turn)
        return;
    c->in_turn = true;
    s->ring[(s->first + s->n++) % cw->n_conns] = (uint32_t)(c - cw->conns);
}

/* Takes the first; there is one.  An empty ring starts at its begin again,
 * so that only as much of it is ever touched as stands in it at a time. */
static struct client_conn *leave(struct client_worker *cw)
{
    struct client_send *s = &cw->send;
    struct client_conn *c = &cw->conns[s->ring[s->first]];

    c->in_turn = false;
    s->first = --s->n > 0 ? (s->first + 1) % cw->n_conns : 0;
    return c;
}

/* All of its queued queries wait for an id; those already counted stand before the new ones. */
static void count_blocked(struct client_conn *c)
{
    struct client_worker *cw = c->worker;
    uint32_t slot = c->queries.tail;
    struct inflight_query *q;

    for (; slot != INFLIGHT_NONE; slot = q->conn_prev) {
        q = inflight_at(&cw->load.inflight, slot);
        if (q->state != INFLIGHT_QUEUED || (q->tag & CLIENT_QUERY_BLOCKED))
            return;
        q->tag |= CLIENT_QUERY_BLOCKED;
        tally_add(&client_query_counts(cw, q)->blocked, 1);
    }
}

/* Gives ids to the connection's queued queries and encodes them, as many as the buffer takes. */
static uint32_t encode_queued(struct client_conn *c, uint64_t now_ns, size_t *n_bytes)
{
    struct client_worker *cw = c->worker;
    struct inflight *t = &cw->load.inflight;
    const struct query *query = &cw->config->query;
    uint32_t n = 0;

    *n_bytes = 0;
    while (c->queries.queued_head != INFLIGHT_NONE) {
        struct inflight_query *q = inflight_at(t, c->queries.queued_head);
        const size_t size = query_size(query, q->asked);
        bool recycled;

        if (*n_bytes + size > CLIENT_SEND_BYTES)
            break;
        if (inflight_assign_id(t, &c->queries, &recycled) != 0) {
            count_blocked(c);
            break;
        }
        tally_add(&cw->tally.ids_recycled, recycled);
        query_encode(query, q->asked, q->id, cw->to_send + *n_bytes);
        *n_bytes += size;
        inflight_mark_sent(t, &c->queries, now_ns);
        n++;
    }
    return n;
}

static void send_queued(struct client_conn *c)
{
    struct client_worker *cw = c->worker;
    struct inflight *t = &cw->load.inflight;

    while (c->queries.queued_head != INFLIGHT_NONE) {
        uint32_t slot = c->queries.queued_head;
        size_t n_bytes;
        uint32_t n = encode_queued(c, cw->load.now_ns, &n_bytes);
        uint64_t sent_ns;
        int error;

        if (n == 0)
            return;
        sent_ns = clock_now_ns();
        error = client_conn_send(c, cw->to_send, n_bytes);
        cw->load.now_ns = sent_ns;
        for (; n > 0; n--) {
            struct inflight_query *q = inflight_at(t, slot);

            client_query_sent(cw, q, sent_ns);
            slot = q->conn_next;
        }
        if (error != 0) {
            client_conn_broken(c, error);
            return;
        }
    }
}

void client_send_all(struct client_worker *cw)
{
    struct client_send *s = &cw->send;

    while (s->n > 0) {
        struct client_conn *c = leave(cw);

        if (c->state != CLIENT_CONN_ENDED)
            send_queued(c);
    }
    client_query_arm_expiry(cw);
}
