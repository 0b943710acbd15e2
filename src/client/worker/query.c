/* SPDX-License-Identifier: MIT
 * client_query: see client/worker/query.h. */
#include "client/worker/query.h"

#include "base/clock.h"
#include "base/units.h"
#include "client/worker/conn.h"
#include "measure/rows.h"
#include "net/worker.h"

/* Limit on the initial table of queries in flight: 56 MiB of address space. */
enum { MOST_EXPECTED = 3 << 18 };

/* An answer may arrive long after the timeout: ids are reused only this long after their queries
 * were sent. */
enum { REUSE_TIMEOUTS = 10, REUSE_S = 10 };

/* Limit on connections that the timer closes per call, so that queries are sent in between: closing
 * takes several microseconds each. */
enum { MOST_CLOSED_PER_CALL = 64 };

static void on_expiry(evutil_socket_t fd, short what, void *arg);

/* Enough for all queries that this worker sends within the timeout: if the server stops answering,
 * the table need not grow.  Memory is only used as queries are added. */
static uint32_t expected_in_flight(const struct client_config *config, uint32_t n_conns)
{
    const double rate = schedule_peak_qps(&config->schedule) * n_conns / config->n_connections;
    const double n = rate * 1.1 * (double)config->timeout_ns / 1e9;

    return n < MOST_EXPECTED ? (uint32_t)n + 256 : MOST_EXPECTED;
}

static bool has_ids(const struct client_config *config)
{
    return !config->listens && config->query.protocol->has_id;
}

uint64_t client_query_in_flight_bytes(const struct client_config *config)
{
    const uint32_t most_conns = (config->n_connections - 1) / config->n_workers + 1;

    return config->n_workers *
           inflight_slots_bytes(expected_in_flight(config, most_conns), has_ids(config));
}

static uint64_t reuse_ns(uint64_t timeout_ns)
{
    const uint64_t least_ns = REUSE_S * UNITS_NS_PER_S;

    return timeout_ns * REUSE_TIMEOUTS > least_ns ? timeout_ns * REUSE_TIMEOUTS : least_ns;
}

int client_query_init(struct client_queries *qs)
{
    const struct client_transport *t = qs->transport;

    evtimer_assign(&qs->expiry_event, t->base, on_expiry, qs);
    evtimer_assign(&qs->read_event, t->base, on_expiry, qs);
    event_priority_set(&qs->read_event, WORKER_PRIORITY_IDLE);
    if (inflight_init(&qs->inflight, expected_in_flight(t->config, t->n_conns),
                      has_ids(t->config)) != 0)
        return -1;
    qs->inflight.reuse_ns = reuse_ns(t->config->timeout_ns);
    return 0;
}

void client_query_disarm_expiry(struct client_queries *qs)
{
    event_del(&qs->expiry_event);
    event_del(&qs->read_event);
}

void client_query_free(struct client_queries *qs)
{
    if (event_initialized(&qs->expiry_event))
        client_query_disarm_expiry(qs);
    inflight_free(&qs->inflight);
}

void client_query_arm_expiry(struct client_queries *qs)
{
    const uint32_t oldest = inflight_oldest(&qs->inflight);

    if (oldest != INFLIGHT_NONE && !event_pending(&qs->expiry_event, EV_TIMEOUT, NULL))
        worker_add_timer_at(&qs->expiry_event,
                            inflight_at(&qs->inflight, oldest)->sent_ns +
                                qs->transport->config->timeout_ns,
                            clock_now_ns());
}

static void push_row(const struct client_queries *qs, const struct inflight_query *q,
                     uint64_t sent_ns)
{
    const struct client_transport *t = qs->transport;
    const struct rows_record row = {.time_ns = sent_ns,
                                    .lag_ns = sent_ns - q->intended_ns,
                                    .span_ns = (uint64_t)q->gap_us * 1000,
                                    .connection = t->first_conn + q->connection,
                                    .id = q->id,
                                    .type = 'Q'};

    rows_push(t->config->rows, t->worker, &row);
}

void client_query_sent(struct client_queries *qs, struct inflight_query *q, uint64_t sent_ns)
{
    struct client_figures *f = qs->figures;

    q->sent_ns = sent_ns;
    client_query_count(qs, q, TALLY_OF(sent));
    if (f->records != NULL)
        f->records[q->connection].queries++;
    if (!client_query_is_measured(q))
        return;
    tally_add(&f->in_flight, 1);
    if (f->last_sent_ns == 0)
        f->first_lag_ns = sent_ns - q->intended_ns;
    f->last_sent_ns = sent_ns;
    if (!(q->tag & CLIENT_QUERY_BLOCKED))
        f->last_unblocked_ns = sent_ns;
    hist_record(&f->metrics[CLIENT_SEND_LAG], sent_ns - q->intended_ns);
    if (qs->transport->config->rows != NULL)
        push_row(qs, q, sent_ns);
}

static void count_beyond_class(struct client_figures *f, uint32_t class_index, bool sent)
{
    struct client_class_times *times = client_figures_class_times(f, class_index);

    hist_record_beyond(&times->response, 1);
    if (sent)
        hist_record_beyond(&times->service, 1);
}

void client_query_unanswered(struct client_queries *qs, uint32_t class_index, bool sent)
{
    struct hist *metrics = qs->figures->metrics;

    if (qs->figures->classes != NULL)
        count_beyond_class(qs->figures, class_index, sent);
    hist_record_beyond(&metrics[CLIENT_RESPONSE], 1);
    if (!sent)
        return;
    hist_record_beyond(&metrics[CLIENT_SERVICE], 1);
    if (qs->transport->config->socket.stamp_received)
        hist_record_beyond(&metrics[CLIENT_NET], 1);
}

/* Counts a query that will not be sent. */
static void count_unsent(struct client_queries *qs, const struct inflight_query *q)
{
    struct tally_demand *demand = &qs->figures->tally.demand;

    client_query_count(qs, q, TALLY_OF(unsent));
    if (qs->transport->config->on_demand)
        tally_sub(q->tag & CLIENT_QUERY_WAITED ? &demand->waited : &demand->reused, 1);
    if (client_query_is_measured(q))
        client_query_unanswered(qs, client_query_class(qs, q), false);
}

/* A query has its outcome: the connection may be idle now. */
static void rest(struct client_queries *qs, struct client_conn *c, uint64_t now_ns)
{
    if (qs->transport->config->on_demand)
        client_idle_rest(qs->idle, c, now_ns);
}

void client_query_expire(struct client_queries *qs, uint32_t slot, uint64_t now_ns)
{
    const struct inflight_query *q = inflight_at(&qs->inflight, slot);
    struct client_conn *c = &qs->transport->conns[q->connection];
    const uint8_t class = q->tag & CLIENT_QUERY_CLASS;
    const uint64_t sent_ns = q->sent_ns;

    client_query_count(qs, q, TALLY_OF(timeout));
    tally_add(&qs->figures->tally.withdrawn, q->state == INFLIGHT_WAITING);
    if (client_query_is_measured(q)) {
        tally_sub(&qs->figures->in_flight, 1);
        client_query_unanswered(qs, client_query_class(qs, q), true);
    }
    inflight_expire(&qs->inflight, &c->queries, slot);
    if (class != TALLY_PROBE)
        client_conn_unheard(c, sent_ns, now_ns);
    if (class == TALLY_PROBE)
        client_conn_mark_half_open(c);
    else if (qs->transport->config->on_timeout == CLIENT_TIMEOUT_CLOSE)
        client_conn_close(c, (struct outcome){PHASE_RECEIVE, REASON_TIMEOUT}, 0);
    else if (c->state == CLIENT_CONN_FINISHING)
        client_conn_close_if_finished(c);
    else
        client_due_after(qs->due, c, now_ns);
    rest(qs, c, now_ns);
}

/* Gives up the oldest queries that timed out by until_ns, at most `most`; returns true if there are
 * more. */
static bool expire_oldest(struct client_queries *qs, uint64_t until_ns, uint32_t most)
{
    struct inflight *t = &qs->inflight;
    const uint64_t now_ns = clock_now_ns(), timeout_ns = qs->transport->config->timeout_ns;
    uint32_t slot;

    qs->span->now_ns = now_ns;
    while ((slot = inflight_oldest(t)) != INFLIGHT_NONE &&
           inflight_at(t, slot)->sent_ns + timeout_ns <= until_ns) {
        if (most-- == 0)
            return true;
        client_query_expire(qs, slot, now_ns);
    }
    return false;
}

void client_query_expire_due(struct client_queries *qs, uint64_t until_ns)
{
    (void)expire_oldest(qs, until_ns, UINT32_MAX);
}

/* Reads the sockets first: after a stall, they still hold answers that arrived in time. */
static void on_expiry(evutil_socket_t fd, short what, void *arg)
{
    struct client_queries *qs = arg;
    const bool closes = qs->transport->config->on_timeout == CLIENT_TIMEOUT_CLOSE;

    (void)fd;
    (void)what;
    if (qs->is_expiring || worker_await_reads(&qs->expiry_event, &qs->read_event))
        qs->is_expiring =
            expire_oldest(qs, qs->overdue_ns, closes ? MOST_CLOSED_PER_CALL : UINT32_MAX);
    else
        qs->overdue_ns = clock_now_ns();
    client_query_arm_expiry(qs);
}

void client_query_give_up_blocked(struct client_queries *qs, struct client_conn *c)
{
    struct inflight *t = &qs->inflight;
    const uint64_t now_ns = qs->span->now_ns, timeout_ns = qs->transport->config->timeout_ns;
    uint32_t slot;

    while ((slot = c->queries.queued_head) != INFLIGHT_NONE &&
           inflight_at(t, slot)->intended_ns + timeout_ns <= now_ns) {
        count_unsent(qs, inflight_at(t, slot));
        inflight_remove(t, &c->queries, slot);
        client_due_after(qs->due, c, now_ns);
    }
    if (c->state == CLIENT_CONN_FINISHING)
        client_conn_close_if_finished(c);
    rest(qs, c, now_ns);
}

void client_query_lost(struct client_queries *qs, struct client_conn *c, struct outcome outcome)
{
    struct inflight *t = &qs->inflight;
    struct client_figures *f = qs->figures;
    const bool cancelled = outcome.reason == REASON_FINISHED || outcome.reason == REASON_CANCELLED;
    uint32_t slot;

    while ((slot = c->queries.head) != INFLIGHT_NONE) {
        const struct inflight_query *q = inflight_at(t, slot);

        if (q->state == INFLIGHT_QUEUED) {
            count_unsent(qs, q);
        } else {
            client_query_count(qs, q, cancelled ? TALLY_OF(cancelled) : TALLY_OF(error));
            if (client_query_is_measured(q)) {
                tally_sub(&f->in_flight, 1);
                if (!cancelled)
                    tally_add(&f->tally.errors[outcome.phase][outcome.reason], 1);
                client_query_unanswered(qs, client_query_class(qs, q), true);
            }
        }
        inflight_remove(t, &c->queries, slot);
    }
    inflight_forget(t, &c->queries);
}

void client_query_unconnected(struct client_queries *qs, struct inflight_list *waiting,
                              struct outcome outcome)
{
    const bool cancelled = outcome.reason == REASON_FINISHED || outcome.reason == REASON_CANCELLED;
    struct tally *tally = &qs->figures->tally;
    uint32_t slot;

    while ((slot = waiting->head) != INFLIGHT_NONE) {
        const struct inflight_query *q = inflight_at(&qs->inflight, slot);

        count_unsent(qs, q);
        if (!cancelled) {
            client_query_count(qs, q, TALLY_OF(unconnected));
            if (client_query_is_measured(q))
                tally_add(&tally->errors[outcome.phase][outcome.reason], 1);
        }
        inflight_remove(&qs->inflight, waiting, slot);
    }
}
