/* SPDX-License-Identifier: MIT
 * client_send: see client/worker/send.h. */
#include "client/worker/send.h"

#include "base/clock.h"
#include "client/worker/conn.h"
#include "client/worker/events.h"
#include "client/worker/io.h"
#include "net/tls.h"

#include <errno.h>
#include <stdlib.h>

/* At least one query of QUERY_MAX_BYTES. */
#define SEND_BYTES 131072u

int client_send_init(struct client_send *s)
{
    s->ring = calloc(s->transport->n_conns, sizeof *s->ring);
    s->to_send = malloc(SEND_BYTES);
    return s->ring != NULL && s->to_send != NULL ? 0 : -1;
}

void client_send_free(struct client_send *s)
{
    free(s->ring);
    free(s->to_send);
}

void client_send_join(struct client_send *s, struct client_conn *c)
{
    if (c->send_queued)
        return;
    c->send_queued = true;
    s->ring[(s->first + s->n++) % s->transport->n_conns] = client_conn_slot(c);
}

/* Dequeues the first connection; the queue must not be empty.  An empty ring restarts at index 0,
 * so that only as much of it is touched as it holds at a time. */
static struct client_conn *dequeue(struct client_send *s)
{
    struct client_conn *c = &s->transport->conns[s->ring[s->first]];

    c->send_queued = false;
    s->first = --s->n > 0 ? (s->first + 1) % s->transport->n_conns : 0;
    return c;
}

/* Counts the queued queries, all waiting for an id, as blocked.  Those counted earlier are at the
 * front of the queue. */
static void count_blocked(struct client_send *s, struct client_conn *c)
{
    uint32_t slot = c->queries.tail;
    struct inflight_query *q;

    for (; slot != INFLIGHT_NONE; slot = q->conn_prev) {
        q = inflight_at(&s->queries->inflight, slot);
        if (q->state != INFLIGHT_QUEUED || (q->tag & CLIENT_QUERY_BLOCKED))
            return;
        q->tag |= CLIENT_QUERY_BLOCKED;
        client_query_count(s->queries, q, TALLY_OF(blocked));
    }
}

/* Gives an id to the first queued query and marks it sent.  Returns whether there was one. */
static bool take_queued(struct client_send *s, struct client_conn *c, uint64_t now_ns)
{
    bool recycled;

    if (inflight_assign_id(&s->queries->inflight, &c->queries, &recycled) != 0) {
        count_blocked(s, c);
        return false;
    }
    tally_add(&s->queries->figures->tally.ids_recycled, recycled);
    inflight_mark_sent(&s->queries->inflight, &c->queries, now_ns);
    return true;
}

/* Encodes the connection's queued queries, as many as fit the buffer. */
static uint32_t encode_queued(struct client_send *s, struct client_conn *c, uint64_t now_ns,
                              size_t *n_bytes)
{
    struct inflight *t = &s->queries->inflight;
    const struct query *query = client_conn_query(c);
    uint32_t n = 0;

    *n_bytes = 0;
    while (c->queries.queued_head != INFLIGHT_NONE) {
        const struct inflight_query *q = inflight_at(t, c->queries.queued_head);
        const size_t size = query_size(query, q->query_offset);

        if (*n_bytes + size > SEND_BYTES || !take_queued(s, c, now_ns))
            break;
        query_encode(query, q->query_offset, q->id, s->to_send + *n_bytes);
        *n_bytes += size;
        n++;
    }
    return n;
}

/* Writes the first n_bytes of to_send, which holds the encoded queries from the first waiting one
 * on.  Keeps the rest of a query written in part; the queries behind it go on waiting and may
 * expire.  Returns 0 or an errno. */
static int write_encoded(struct client_send *s, struct client_conn *c, size_t n_bytes)
{
    const struct query *query = client_conn_query(c);
    const ssize_t written = client_conn_write(c, s->to_send, n_bytes);
    const size_t n_written = (size_t)written;
    size_t n_begun = 0;

    if (written < 0)
        return errno;
    while (n_begun < n_written) {
        const struct inflight_query *q =
            inflight_at(&s->queries->inflight, c->queries.waiting_head);

        n_begun += query_size(query, q->query_offset);
        inflight_mark_written(&s->queries->inflight, &c->queries);
    }
    return n_written < n_bytes ? client_io_keep(c, s->to_send + n_written, n_begun - n_written) : 0;
}

/* Counts n queries of a connection, starting at a slot, as sent at sent_ns. */
static void count_sent(struct client_send *s, uint32_t slot, uint32_t n, uint64_t sent_ns)
{
    for (; n > 0; n--) {
        struct inflight_query *q = inflight_at(&s->queries->inflight, slot);

        client_query_sent(s->queries, q, sent_ns);
        slot = q->conn_next;
    }
    s->queries->span->now_ns = sent_ns;
}

/* The socket is full: for the statistics, the due queries count as sent now. */
static void send_behind_others(struct client_send *s, struct client_conn *c)
{
    const uint32_t slot = c->queries.queued_head;
    const uint64_t sent_ns = clock_now_ns();
    uint32_t n = 0;

    while (c->queries.queued_head != INFLIGHT_NONE && take_queued(s, c, sent_ns))
        n++;
    count_sent(s, slot, n, sent_ns);
}

static void send_queued(struct client_send *s, struct client_conn *c)
{
    while (c->queries.queued_head != INFLIGHT_NONE && !c->awaits_room) {
        const uint32_t slot = c->queries.queued_head;
        size_t n_bytes;
        const uint32_t n = encode_queued(s, c, s->queries->span->now_ns, &n_bytes);
        uint64_t sent_ns;
        int error;

        if (n == 0)
            break;
        sent_ns = clock_now_ns();
        error = write_encoded(s, c, n_bytes);
        count_sent(s, slot, n, sent_ns);
        if (error != 0) {
            client_events_broken(c, error);
            return;
        }
    }
    if (c->queries.queued_head != INFLIGHT_NONE && c->awaits_room)
        send_behind_others(s, c);
    if (c->queries.queued_head != INFLIGHT_NONE)
        client_query_give_up_blocked(s->queries, c);
}

/* Encodes waiting queries, as many as fit `most` bytes, but at least one. */
static size_t encode_waiting(struct client_send *s, const struct client_conn *c, size_t most)
{
    const struct query *query = client_conn_query(c);
    uint32_t slot = c->queries.waiting_head;
    size_t n_bytes = 0;

    while (slot != c->queries.queued_head) {
        const struct inflight_query *q = inflight_at(&s->queries->inflight, slot);
        const size_t size = query_size(query, q->query_offset);

        if (n_bytes > 0 && n_bytes + size > most)
            break;
        query_encode(query, q->query_offset, q->id, s->to_send + n_bytes);
        n_bytes += size;
        slot = q->conn_next;
    }
    return n_bytes;
}

/* With TLS, encodes one record at a time, because encrypted bytes must be sent. */
bool client_send_waiting(struct client_send *s, struct client_conn *c)
{
    const size_t most = client_conn_uses_tls(c) ? TLS_RECORD_BYTES : SEND_BYTES;

    while (c->queries.waiting_head != INFLIGHT_NONE) {
        const uint32_t first = c->queries.waiting_head;
        const int error = write_encoded(s, c, encode_waiting(s, c, most));

        if (error != 0) {
            client_events_broken(c, error);
            return false;
        }
        if (c->backlog != NULL || c->queries.waiting_head == first)
            return true;
    }
    return false;
}

void client_send_all(struct client_send *s)
{
    while (s->n > 0) {
        struct client_conn *c = dequeue(s);

        /* a queued connection may have ended, and a new one may be opening in its slot, which is
         * queued again once it is established */
        if (c->state >= CLIENT_CONN_PROVING && c->state != CLIENT_CONN_ENDED)
            send_queued(s, c);
    }
    client_query_arm_expiry(s->queries);
}
