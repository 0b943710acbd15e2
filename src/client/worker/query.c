/* SPDX-License-Identifier: MIT
 * client_query: see client/worker/query.h. */
#include "client/worker/query.h"

#include "base/clock.h"
#include "client/worker/worker.h"

static void on_expiry(evutil_socket_t fd, short what, void *arg);

void client_query_init(struct client_worker *cw)
{
    evtimer_assign(&cw->load.expiry_event, cw->worker.base, on_expiry, cw);
}

void client_query_arm_expiry(struct client_worker *cw)
{
    struct client_load *l = &cw->load;
    uint32_t oldest = inflight_oldest(&l->inflight);

    if (oldest != INFLIGHT_NONE && !event_pending(&l->expiry_event, EV_TIMEOUT, NULL))
        client_load_add_timer(&l->expiry_event,
                              inflight_at(&l->inflight, oldest)->sent_ns + cw->config->timeout_ns,
                              clock_now_ns());
}

void client_query_sent(struct client_worker *cw, struct inflight_query *q, uint64_t sent_ns)
{
    q->sent_ns = sent_ns;
    tally_add(&client_query_counts(cw, q)->sent, 1);
    if (cw->records != NULL)
        cw->records[q->connection].queries++;
    if (!client_query_is_measured(q))
        return;
    tally_add(&cw->in_flight, 1);
    if (cw->load.last_sent_ns == 0)
        cw->load.first_lag_ns = sent_ns - q->intended_ns;
    cw->load.last_sent_ns = sent_ns;
    hist_record(&cw->metrics[CLIENT_SEND_LAG], sent_ns - q->intended_ns);
    if (cw->config->rows != NULL) {
        struct rows_record row = {.time_ns = sent_ns,
                                  .lag_ns = sent_ns - q->intended_ns,
                                  .span_ns = (uint64_t)q->gap_us * 1000,
                                  .connection = cw->first_conn + q->connection,
                                  .id = q->id,
                                  .type = 'Q'};

        rows_push(cw->config->rows, cw->worker.index, &row);
    }
}

void client_query_unanswered(struct client_worker *cw, bool sent)
{
    hist_record_beyond(&cw->metrics[CLIENT_RESPONSE], 1);
    if (!sent)
        return;
    hist_record_beyond(&cw->metrics[CLIENT_SERVICE], 1);
    if (cw->config->socket.stamp_received)
        hist_record_beyond(&cw->metrics[CLIENT_NET], 1);
}

/* The connection may be closed by it. */
static void expire(struct client_worker *cw, uint32_t slot, uint64_t now_ns)
{
    const struct inflight_query *q = inflight_at(&cw->load.inflight, slot);
    struct client_conn *c = &cw->conns[q->connection];
    const uint8_t class = q->tag & CLIENT_QUERY_CLASS;

    tally_add(&client_query_counts(cw, q)->timeout, 1);
    tally_add(&cw->tally.withdrawn, q->state == INFLIGHT_WAITING);
    if (client_query_is_measured(q)) {
        tally_sub(&cw->in_flight, 1);
        client_query_unanswered(cw, true);
    }
    inflight_expire(&cw->load.inflight, &c->queries, slot);
    if (class != TALLY_PROBE)
        client_conn_unheard(c);
    if (class == TALLY_PROBE)
        client_conn_is_half_open(c);
    else if (cw->config->on_timeout == CLIENT_TIMEOUT_CLOSE)
        client_conn_close(c, (struct outcome){PHASE_RECEIVE, REASON_TIMEOUT}, 0);
    else if (c->state == CLIENT_CONN_FINISHING)
        client_life_check_finished(c);
    else
        client_load_next_in_closed_loop(c, now_ns);
}

void client_query_give_up_blocked(struct client_conn *c)
{
    struct client_worker *cw = c->worker;
    struct inflight *t = &cw->load.inflight;
    const uint64_t now_ns = cw->load.now_ns;
    uint32_t slot;

    while ((slot = c->queries.queued_head) != INFLIGHT_NONE &&
           inflight_at(t, slot)->intended_ns + cw->config->timeout_ns <= now_ns) {
        tally_add(&client_query_counts(cw, inflight_at(t, slot))->unsent, 1);
        if (client_query_is_measured(inflight_at(t, slot)))
            client_query_unanswered(cw, false);
        inflight_remove(t, &c->queries, slot);
        client_load_next_in_closed_loop(c, now_ns);
    }
    if (c->state == CLIENT_CONN_FINISHING)
        client_life_check_finished(c);
}

void client_query_expire_due(struct client_worker *cw)
{
    struct inflight *t = &cw->load.inflight;
    const uint64_t now_ns = clock_now_ns();
    uint32_t slot;

    cw->load.now_ns = now_ns;
    while ((slot = inflight_oldest(t)) != INFLIGHT_NONE &&
           inflight_at(t, slot)->sent_ns + cw->config->timeout_ns <= now_ns)
        expire(cw, slot, now_ns);
}

static void on_expiry(evutil_socket_t fd, short what, void *arg)
{
    struct client_worker *cw = arg;

    (void)fd;
    (void)what;
    client_query_expire_due(cw);
    client_query_arm_expiry(cw);
    client_load_check_drained(cw);
}

/* What this host added to the response time.  That all ids of the connection were in flight is the
 * server's doing. */
static uint64_t own_delay_ns(const struct client_worker *cw, const struct inflight_query *q,
                             uint64_t received_ns)
{
    const uint64_t lag_ns = q->tag & CLIENT_QUERY_BLOCKED ? 0 : q->sent_ns - q->intended_ns;
    const bool is_known = cw->arrived_ns > q->sent_ns && cw->arrived_ns < received_ns;

    return lag_ns + (is_known ? received_ns - cw->arrived_ns : 0);
}

static void measure(struct client_worker *cw, const struct inflight_query *q, uint8_t says,
                    uint64_t received_ns)
{
    tally_add(&cw->tally.answers.by_code[says & QUERY_SAYS_CODE], 1);
    if (says & QUERY_SAYS_TRUNCATED)
        tally_add(&cw->tally.answers.truncated, 1);
    tally_sub(&cw->in_flight, 1);
    hist_record(&cw->metrics[CLIENT_RESPONSE], received_ns - q->intended_ns);
    hist_record(&cw->metrics[CLIENT_SERVICE], received_ns - q->sent_ns);
    if (cw->arrived_ns != 0)
        hist_record(&cw->metrics[CLIENT_NET],
                    cw->arrived_ns > q->sent_ns ? cw->arrived_ns - q->sent_ns : 0);
    hist_record(&cw->metrics[CLIENT_OWN], own_delay_ns(cw, q, received_ns));
    if (cw->config->rows != NULL) {
        struct rows_record row = {.time_ns = received_ns,
                                  .lag_ns = q->sent_ns - q->intended_ns,
                                  .span_ns = received_ns - q->sent_ns,
                                  .connection = cw->first_conn + q->connection,
                                  .id = q->id,
                                  .type = 'A'};

        rows_push(cw->config->rows, cw->worker.index, &row);
    }
}

static void count_stray(struct client_conn *c)
{
    struct tally *tally = &c->worker->tally;

    tally_add(inflight_id_was_used(&c->queries, c->stream.id) ? &tally->duplicate
                                                              : &tally->unknown_id,
              1);
}

/* The query is answered in time. */
static void take_answer(struct client_conn *c, uint32_t slot, uint64_t received_ns)
{
    struct client_worker *cw = c->worker;
    const struct inflight_query *q = inflight_at(&cw->load.inflight, slot);

    tally_add(&client_query_counts(cw, q)->answered, 1);
    if (client_query_is_measured(q))
        measure(cw, q, c->stream.says, received_ns);
    if ((q->tag & CLIENT_QUERY_CLASS) == TALLY_PROBE)
        client_conn_opening_took(c, received_ns - q->sent_ns);
    else
        client_load_next_in_closed_loop(c, received_ns);
    inflight_answered(&cw->load.inflight, &c->queries, slot);
}

/* Returns whether an expired query was owed the answer.  After the drain one that was not is to a
 * query that was cancelled. */
static bool take_late(struct client_conn *c)
{
    struct client_worker *cw = c->worker;

    if (inflight_take_late(&cw->load.inflight, &c->queries, (uint32_t)(c - cw->conns),
                           c->stream.id)) {
        tally_add(&cw->tally.late, 1);
        if (!c->proven)
            client_conn_opening_took(c, cw->config->timeout_ns); /* or longer */
        return true;
    }
    if (atomic_load_explicit(&cw->stage, memory_order_relaxed) != CLIENT_DRAINED)
        count_stray(c);
    return false;
}

static bool is_overdue(struct client_worker *cw, uint32_t slot, uint64_t now_ns)
{
    return now_ns - inflight_at(&cw->load.inflight, slot)->sent_ns >= cw->config->timeout_ns;
}

void client_query_answer(struct client_conn *c, uint64_t received_ns)
{
    struct client_worker *cw = c->worker;
    const uint32_t i = (uint32_t)(c - cw->conns);
    uint32_t slot = inflight_find(&cw->load.inflight, &c->queries, i, c->stream.id);

    cw->load.now_ns = received_ns;
    if (c->n_unheard > 0)
        client_conn_heard(c);
    if (slot != INFLIGHT_NONE && is_overdue(cw, slot, received_ns)) {
        expire(cw, slot, received_ns); /* the timer has not come to it yet */
        if (c->state == CLIENT_CONN_ENDED)
            return;
        slot = INFLIGHT_NONE;
    }
    if (slot != INFLIGHT_NONE)
        take_answer(c, slot, received_ns);
    else if (!take_late(c))
        return;
    if (cw->records != NULL)
        cw->records[i].answers++;
    client_conn_is_proven(c);
    if (c->queries.queued_head != INFLIGHT_NONE)
        client_send_join(c);
    else if (c->state == CLIENT_CONN_FINISHING)
        client_life_check_finished(c);
}

void client_query_lost(struct client_conn *c, struct outcome outcome)
{
    struct client_worker *cw = c->worker;
    struct inflight *t = &cw->load.inflight;
    const bool cancelled = outcome.reason == REASON_FINISHED || outcome.reason == REASON_CANCELLED;
    uint32_t slot;

    while ((slot = c->queries.head) != INFLIGHT_NONE) {
        const struct inflight_query *q = inflight_at(t, slot);
        struct tally_queries *counts = client_query_counts(cw, q);

        if (q->state == INFLIGHT_QUEUED)
            tally_add(&counts->unsent, 1);
        else
            tally_add(cancelled ? &counts->cancelled : &counts->error, 1);
        if (q->state != INFLIGHT_QUEUED && client_query_is_measured(q)) {
            tally_sub(&cw->in_flight, 1);
            if (!cancelled)
                tally_add(&cw->tally.errors[outcome.phase][outcome.reason], 1);
        }
        if (client_query_is_measured(q))
            client_query_unanswered(cw, q->state != INFLIGHT_QUEUED);
        inflight_remove(t, &c->queries, slot);
    }
    inflight_forget(t, &c->queries);
}
