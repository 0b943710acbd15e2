/* SPDX-License-Identifier: MIT
 * client_answer: see client/worker/answer.h. */
#include "client/worker/answer.h"

#include "client/worker/conn.h"
#include "client/worker/setup_times.h"
#include "measure/rows.h"

/* When the answer to a query arrived, as far as is known. */
static uint64_t arrival_ns(const struct client_transport *t, uint64_t sent_ns, uint64_t received_ns)
{
    const bool is_known = t->arrived_ns > sent_ns && t->arrived_ns < received_ns;

    return is_known ? t->arrived_ns : received_ns;
}

/* This host's part of the response time.  Once a query is queued, excludes waiting for an id,
 * because the server holds all ids of the connection, and for a connection, unless the connect rate
 * held it back (client/worker/hold.h). */
static uint64_t own_delay_ns(const struct client_transport *t, const struct inflight_query *q,
                             uint64_t received_ns)
{
    const uint64_t lag_ns =
        t->config->conn_per_query ? client_setup_times_open_lag_ns(&t->conns[q->connection])
        : q->tag & (CLIENT_QUERY_BLOCKED | CLIENT_QUERY_WAITED) ? (uint64_t)q->late_us * 1000
                                                                : q->sent_ns - q->intended_ns;

    return lag_ns + received_ns - arrival_ns(t, q->sent_ns, received_ns);
}

static void push_row(const struct client_transport *t, const struct inflight_query *q,
                     uint64_t received_ns)
{
    const struct rows_record row = {.time_ns = received_ns,
                                    .lag_ns = q->sent_ns - q->intended_ns,
                                    .span_ns = received_ns - q->sent_ns,
                                    .connection = t->first_conn + q->connection,
                                    .id = q->id,
                                    .type = 'A'};

    rows_push(t->config->rows, t->worker, &row);
}

static void measure_class(struct client_answers *a, const struct inflight_query *q,
                          uint64_t received_ns)
{
    struct client_class_times *times =
        client_figures_class_times(a->figures, client_query_class(a->queries, q));

    hist_record(&times->response, received_ns - q->intended_ns);
    hist_record(&times->service, received_ns - q->sent_ns);
}

static void measure(struct client_answers *a, const struct inflight_query *q, uint8_t status,
                    uint64_t received_ns)
{
    struct client_figures *f = a->figures;
    struct hist *metrics = f->metrics;
    const uint64_t arrived_ns = a->transport->arrived_ns;

    tally_add(&f->tally.answers.by_code[status & QUERY_STATUS_CODE], 1);
    if (status & QUERY_STATUS_TRUNCATED)
        tally_add(&f->tally.answers.truncated, 1);
    tally_sub(&f->in_flight, 1);
    hist_record(&metrics[CLIENT_RESPONSE], received_ns - q->intended_ns);
    hist_record(&metrics[CLIENT_SERVICE], received_ns - q->sent_ns);
    if (f->classes != NULL)
        measure_class(a, q, received_ns);
    if (arrived_ns != 0 && arrived_ns <= received_ns)
        hist_record(&metrics[CLIENT_NET], arrived_ns > q->sent_ns ? arrived_ns - q->sent_ns : 0);
    hist_record(&metrics[CLIENT_OWN], own_delay_ns(a->transport, q, received_ns));
    if (a->transport->config->rows != NULL)
        push_row(a->transport, q, received_ns);
}

/* Counts a query answered in time. */
static void credit(struct client_answers *a, struct client_conn *c, uint32_t slot,
                   uint64_t received_ns)
{
    struct client_queries *qs = a->queries;
    const struct inflight_query *q = inflight_at(&qs->inflight, slot);

    client_query_count(qs, q, TALLY_OF(answered));
    if (client_query_is_measured(q))
        measure(a, q, c->stream.status, received_ns);
    if ((q->tag & CLIENT_QUERY_CLASS) == TALLY_PROBE)
        client_conn_opening_took(c, received_ns - q->sent_ns);
    else
        client_due_after(qs->due, c, received_ns);
    inflight_answered(&qs->inflight, &c->queries, slot);
}

static void count_stray(struct client_answers *a, const struct client_conn *c)
{
    struct tally *tally = &a->figures->tally;

    tally_add(inflight_id_was_used(&c->queries, c->stream.id) ? &tally->duplicate
                                                              : &tally->unknown_id,
              1);
}

/* Returns whether an expired query was waiting for the answer.  After the drain, an answer that no
 * expired query waited for belongs to a cancelled one. */
static bool take_late(struct client_answers *a, struct client_conn *c)
{
    struct client_queries *qs = a->queries;

    if (inflight_take_late(&qs->inflight, &c->queries, client_conn_slot(c), c->stream.id)) {
        tally_add(&a->figures->tally.late, 1);
        if (!c->proven)
            client_conn_opening_took(c, a->transport->config->timeout_ns); /* or longer */
        return true;
    }
    if (client_stage_of(a->stages) != CLIENT_DRAINED)
        count_stray(a, c);
    return false;
}

/* An answer that arrived in time counts, however late it is read. */
static bool is_overdue(struct client_queries *qs, uint32_t slot, uint64_t received_ns)
{
    const struct client_transport *t = qs->transport;
    const uint64_t sent_ns = inflight_at(&qs->inflight, slot)->sent_ns;

    return arrival_ns(t, sent_ns, received_ns) - sent_ns >= t->config->timeout_ns;
}

bool client_answer_take_one(struct client_answers *a, struct client_conn *c, uint64_t received_ns)
{
    struct client_queries *qs = a->queries;
    const uint32_t i = client_conn_slot(c);
    uint32_t slot = inflight_find(&qs->inflight, &c->queries, i, c->stream.id);

    qs->span->now_ns = received_ns;
    qs->span->answered = true;
    if (c->n_unheard > 0)
        client_conn_heard(c);
    if (slot != INFLIGHT_NONE && is_overdue(qs, slot, received_ns)) {
        client_query_expire(qs, slot, received_ns); /* the timer has not reached it yet */
        if (c->state == CLIENT_CONN_ENDED)
            return false;
        slot = INFLIGHT_NONE;
    }
    if (slot != INFLIGHT_NONE)
        credit(a, c, slot, received_ns);
    else if (!take_late(a, c))
        return false;
    if (a->figures->records != NULL)
        a->figures->records[i].answers++;
    client_conn_mark_proven(c);
    if (c->queries.queued_head != INFLIGHT_NONE)
        client_send_join(a->send, c);
    else if (c->state == CLIENT_CONN_FINISHING)
        client_conn_close_if_finished(c);
    return slot != INFLIGHT_NONE;
}

/* The rest of a stream cannot be read; the next datagram can. */
static void take_malformed(struct client_answers *a, struct client_conn *c)
{
    if (!a->transport->config->socket.datagrams) {
        client_conn_close(c, (struct outcome){PHASE_PROTOCOL, REASON_MALFORMED}, 0);
        return;
    }
    tally_add(&a->figures->tally.datagrams.malformed, 1);
    c->stream = (struct query_stream){0};
}

static enum query_event next_answer(struct client_answers *a, struct client_conn *c,
                                    struct query_input *in)
{
    enum query_event event;

    if (!c->owes_earlier)
        return query_next(client_conn_query(c), &c->stream, in);
    event = query_next(client_sizes_next(a->sizes, c), &c->stream, in);
    if (event == QUERY_REPLY)
        client_sizes_answered(a->sizes, c);
    return event;
}

void client_answer_take(struct client_answers *a, struct client_conn *c, const uint8_t *data,
                        size_t n_bytes, uint64_t received_ns)
{
    struct query_input in = {data, n_bytes};
    enum query_event event;

    if (n_bytes == 0) {
        client_conn_close(c, (struct outcome){PHASE_RECEIVE, REASON_PEER}, 0);
        return;
    }
    while ((event = next_answer(a, c, &in)) == QUERY_REPLY) {
        (void)client_answer_take_one(a, c, received_ns);
        if (c->state == CLIENT_CONN_ENDED)
            return;
    }
    if (event == QUERY_MALFORMED)
        take_malformed(a, c);
}
