/* SPDX-License-Identifier: MIT
 * client_send: see client/worker/send.h. */
#include "client/worker/send.h"

#include "base/clock.h"
#include "client/worker/query.h"
#include "client/worker/worker.h"

#include <errno.h>
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

/* Gives an id to the first queued query and marks it sent.  Returns whether there was one. */
static bool take_queued(struct client_conn *c, uint64_t now_ns)
{
    struct client_worker *cw = c->worker;
    bool recycled;

    if (inflight_assign_id(&cw->load.inflight, &c->queries, &recycled) != 0) {
        count_blocked(c);
        return false;
    }
    tally_add(&cw->tally.ids_recycled, recycled);
    inflight_mark_sent(&cw->load.inflight, &c->queries, now_ns);
    return true;
}

/* Takes the connection's queued queries and encodes them, as many as the buffer holds. */
static uint32_t encode_queued(struct client_conn *c, uint64_t now_ns, size_t *n_bytes)
{
    struct client_worker *cw = c->worker;
    struct inflight *t = &cw->load.inflight;
    const struct query *query = &cw->config->query;
    uint32_t n = 0;

    *n_bytes = 0;
    while (c->queries.queued_head != INFLIGHT_NONE) {
        const struct inflight_query *q = inflight_at(t, c->queries.queued_head);
        const size_t size = query_size(query, q->query_offset);

        if (*n_bytes + size > CLIENT_SEND_BYTES || !take_queued(c, now_ns))
            break;
        query_encode(query, q->query_offset, q->id, cw->to_send + *n_bytes);
        *n_bytes += size;
        n++;
    }
    return n;
}

/* Writes the first n_bytes of to_send, the encoded queries from the first waiting one on.  Of a
 * query that is written in part the rest is kept; those behind it wait on, and may expire there.
 * Returns 0 or an errno. */
static int write_encoded(struct client_conn *c, size_t n_bytes)
{
    struct client_worker *cw = c->worker;
    const ssize_t written = client_conn_write(c, cw->to_send, n_bytes);
    const size_t n_written = (size_t)written;
    size_t n_begun = 0;

    if (written < 0)
        return errno;
    while (n_begun < n_written) {
        const struct inflight_query *q = inflight_at(&cw->load.inflight, c->queries.waiting_head);

        n_begun += query_size(&cw->config->query, q->query_offset);
        inflight_mark_written(&cw->load.inflight, &c->queries);
    }
    return n_written < n_bytes ? client_conn_keep(c, cw->to_send + n_written, n_begun - n_written)
                               : 0;
}

/* n of its queries, from the slot on, were sent at sent_ns. */
static void count_sent(struct client_conn *c, uint32_t slot, uint32_t n, uint64_t sent_ns)
{
    struct client_worker *cw = c->worker;

    for (; n > 0; n--) {
        struct inflight_query *q = inflight_at(&cw->load.inflight, slot);

        client_query_sent(cw, q, sent_ns);
        slot = q->conn_next;
    }
    cw->load.now_ns = sent_ns;
}

/* Its socket is full: as far as their times go, the queries that are due are sent now. */
static void send_behind_others(struct client_conn *c)
{
    const uint32_t slot = c->queries.queued_head;
    const uint64_t sent_ns = clock_now_ns();
    uint32_t n = 0;

    while (c->queries.queued_head != INFLIGHT_NONE && take_queued(c, sent_ns))
        n++;
    count_sent(c, slot, n, sent_ns);
}

static void send_queued(struct client_conn *c)
{
    struct client_worker *cw = c->worker;

    while (c->queries.queued_head != INFLIGHT_NONE && !c->awaits_room) {
        const uint32_t slot = c->queries.queued_head;
        size_t n_bytes;
        const uint32_t n = encode_queued(c, cw->load.now_ns, &n_bytes);
        uint64_t sent_ns;
        int error;

        if (n == 0)
            break;
        sent_ns = clock_now_ns();
        error = write_encoded(c, n_bytes);
        count_sent(c, slot, n, sent_ns);
        if (error != 0) {
            client_conn_broken(c, error);
            return;
        }
    }
    if (c->queries.queued_head != INFLIGHT_NONE && c->awaits_room)
        send_behind_others(c);
    if (c->queries.queued_head != INFLIGHT_NONE)
        client_query_give_up_blocked(c);
}

/* Encodes queries that wait, as many as `most` bytes hold, and at least one. */
static size_t encode_waiting(const struct client_conn *c, size_t most)
{
    struct client_worker *cw = c->worker;
    const struct query *query = &cw->config->query;
    uint32_t slot = c->queries.waiting_head;
    size_t n_bytes = 0;

    while (slot != c->queries.queued_head) {
        const struct inflight_query *q = inflight_at(&cw->load.inflight, slot);
        const size_t size = query_size(query, q->query_offset);

        if (n_bytes > 0 && n_bytes + size > most)
            break;
        query_encode(query, q->query_offset, q->id, cw->to_send + n_bytes);
        n_bytes += size;
        slot = q->conn_next;
    }
    return n_bytes;
}

/* TLS seals a record at a time, as what is sealed must be sent. */
void client_send_waiting(struct client_conn *c)
{
    const size_t most = c->worker->tls != NULL ? TLS_RECORD_BYTES : CLIENT_SEND_BYTES;

    while (c->queries.waiting_head != INFLIGHT_NONE) {
        const uint32_t first = c->queries.waiting_head;
        const int error = write_encoded(c, encode_waiting(c, most));

        if (error != 0) {
            client_conn_broken(c, error);
            return;
        }
        if (c->backlog != NULL || c->queries.waiting_head == first)
            return;
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
