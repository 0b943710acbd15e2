/* SPDX-License-Identifier: MIT
 * client_dispatch: see client/worker/dispatch.h. */
#include "client/worker/dispatch.h"

#include "base/clock.h"
#include "client/worker/conn.h"

/* Limits per turn: in total with few connections, and per connection at rates of up to 64 per
 * second of each, and at higher ones.  After the program was suspended, the backlog is queued over
 * several turns, so that sockets are read in between and the queue stays small.  One write per turn
 * and connection sends all of its queries: over 2,000 connections, with a limit of 2 the client
 * sent 153,000 queries/s at 6.3 us of CPU time each, with 64 it sent 982,000 at 1.0 us.  At
 * 5,600,000/s, more than 64 become due in a turn: the mean response time was 1.1 s, with 512 it was
 * 0.11 s. */
enum { OF_FEW = 4096, OF_EACH = 64, MOST_OF_EACH = 512 };

int client_dispatch_init(struct client_dispatch *d)
{
    const struct client_config *config = d->transport->config;

    client_select_init(&d->select, config->select == CLIENT_SELECT_RANDOM, config->seed,
                       d->transport->worker);
    return client_batch_init(&d->batch, d->transport->n_conns);
}

void client_dispatch_free(struct client_dispatch *d)
{
    client_batch_free(&d->batch);
}

/* As many as become due in a second, which is longer than a turn unless the client is overloaded.
 */
static uint64_t most_per_turn(const struct client_transport *t, const struct schedule *schedule)
{
    const uint64_t n_conns = t->n_conns;
    const double of_a_second = schedule_peak_qps(schedule) * t->n_conns / t->config->n_connections;
    uint64_t most = n_conns * OF_EACH;

    if (of_a_second > (double)(n_conns * MOST_OF_EACH))
        most = n_conns * MOST_OF_EACH;
    else if (of_a_second > (double)most)
        most = (uint64_t)of_a_second;
    return most > OF_FEW ? most : OF_FEW;
}

void client_dispatch_start(struct client_dispatch *d, const bool *takes_arrivals, uint64_t start_ns)
{
    d->previous_intended_ns = start_ns;
    d->most_per_turn = most_per_turn(d->transport, &d->transport->config->schedule);
    client_due_start(d->due, takes_arrivals, start_ns);
}

void client_dispatch_replace(struct client_dispatch *d, const struct schedule *schedule)
{
    d->most_per_turn = most_per_turn(d->transport, schedule);
    client_due_replace(d->due, schedule);
}

static uint32_t to_us(uint64_t ns)
{
    const uint64_t us = ns / 1000;

    return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

/* Completes a query that has been queued. */
static void describe(struct client_dispatch *d, uint32_t slot,
                     const struct client_batch_query *query)
{
    struct inflight_query *q = inflight_at(&d->queries->inflight, slot);
    const uint64_t now_ns = d->span->now_ns;

    q->query_offset = query->query_offset;
    q->gap_us = query->gap_us;
    q->late_us = now_ns > query->intended_ns ? to_us(now_ns - query->intended_ns) : 0;
}

/* Queues a query on its connection.  Returns whether there was room. */
static bool queue(struct client_dispatch *d, const struct client_batch_query *query)
{
    struct client_conn *c = &d->transport->conns[query->slot];
    const uint32_t slot = inflight_queue(&d->queries->inflight, &c->queries, query->slot,
                                         query->intended_ns, query->tag);

    if (slot == INFLIGHT_NONE)
        return false;
    describe(d, slot, query);
    if (query->tag != TALLY_PROBE && client_slots_are_kept(d->slots))
        client_turnover_give(d->turnover, c);
    if (c->state >= CLIENT_CONN_PROVING)
        client_send_join(d->send, c);
    return true;
}

/* Likewise, for a client whose connection may have to be opened. */
static bool queue_on_demand(struct client_dispatch *d, const struct client_batch_query *query)
{
    const uint32_t slot =
        client_demand_queue(d->demand, query->slot, query->intended_ns, query->tag);

    if (slot == INFLIGHT_NONE)
        return false;
    describe(d, slot, query);
    return true;
}

/* The slots of a class. */
struct class_slots {
    const struct client_transport *transport;
    uint32_t first, n;
};

/* Those of class k; without classes, all. */
static struct class_slots slots_of(const struct client_transport *t, uint32_t k)
{
    const struct client_config *config = t->config;

    if (config->n_classes == 0)
        return (struct class_slots){t, 0, t->n_conns};
    return (struct class_slots){
        t, client_class_first_slot(&config->classes[k], config->n_workers, t->worker),
        client_class_n_slots(&config->classes[k], config->n_workers, t->worker)};
}

static bool is_usable_in_class(const void *context, uint32_t slot)
{
    const struct class_slots *slots = context;

    return client_conn_is_usable(&slots->transport->conns[slots->first + slot]);
}

/* Selects any usable connection of class k, which has some.  Returns CLIENT_SELECT_NO_SLOT if out
 * of memory. */
static uint32_t select_other(struct client_dispatch *d, uint32_t k)
{
    const struct class_slots slots = slots_of(d->transport, k);
    const struct client_usable_list *list = &d->usable->lists[k];
    uint32_t slot;

    if (!client_usable_are_kept(d->usable)) {
        slot = client_select_try(&d->select, slots.n, is_usable_in_class, &slots);
        if (slot != CLIENT_SELECT_NO_SLOT)
            return slots.first + slot;
        if (client_usable_gather(d->usable) != 0)
            return CLIENT_SELECT_NO_SLOT;
    }
    return client_select_listed(&d->select, list->slots, list->n);
}

/* Whether all connections take queries: then none has to be looked at, which is a cache miss. */
static bool are_all_usable(const struct client_transport *t)
{
    return tally_get(&t->figures->n_live) == t->n_conns;
}

/* Selects the slot of a connection that takes queries; CLIENT_SELECT_NO_SLOT: there is none.
 * `chosen`: number over all workers, possibly in another worker.  *rerouted: not the chosen one. */
static uint32_t select_slot(struct client_dispatch *d, uint32_t chosen, bool *rerouted)
{
    const struct client_transport *t = d->transport;
    uint32_t i = client_select_first(&d->select, d->pool, chosen - t->first_conn);

    *rerouted = false;
    if (i < t->n_conns && (are_all_usable(t) || client_conn_is_usable(&t->conns[i])))
        return i;
    if (d->pool->n_open == 0 || tally_get(&t->figures->n_live) == 0)
        return CLIENT_SELECT_NO_SLOT;
    i = select_other(d, 0);
    *rerouted = i != CLIENT_SELECT_NO_SLOT;
    return i;
}

/* Likewise with classes: another connection is one of the same class. */
static uint32_t select_in_class(struct client_dispatch *d, uint32_t slot, bool *rerouted)
{
    const struct client_transport *t = d->transport;
    const uint32_t k = t->conns[slot].class_index;
    uint32_t other;

    *rerouted = false;
    if (client_conn_is_usable(&t->conns[slot]))
        return slot;
    if (tally_get(&t->figures->classes[k].n_live) == 0)
        return CLIENT_SELECT_NO_SLOT;
    other = select_other(d, k);
    *rerouted = other != CLIENT_SELECT_NO_SLOT;
    return other;
}

/* Opens a connection for a query.  Returns its slot; CLIENT_SELECT_NO_SLOT: it could not be opened.
 */
static uint32_t open_slot(struct client_dispatch *d, uint64_t intended_ns, uint8_t class)
{
    const struct client_conn *c =
        client_conn_per_query_open(d->conn_per_query, class == TALLY_MEASURED ? intended_ns : 0);

    return c != NULL && c->state != CLIENT_CONN_ENDED ? client_conn_slot(c) : CLIENT_SELECT_NO_SLOT;
}

static void count_unsent(struct client_dispatch *d, uint8_t class, uint32_t class_index)
{
    client_figures_count_query(d->transport->figures, class, class_index, TALLY_OF(unsent));
    if (class == TALLY_MEASURED)
        client_query_unanswered(d->queries, class_index, false);
}

/* Queues a due query, or counts it as unsent. */
static void queue_due(void *context, const struct client_batch_query *query)
{
    struct client_dispatch *d = context;
    const struct client_config *config = d->transport->config;
    struct client_conn *c = &d->transport->conns[query->slot];

    if (config->on_demand ? queue_on_demand(d, query) : queue(d, query))
        return;
    count_unsent(d, query->tag, c->class_index);
    if (config->conn_per_query)
        client_conn_close(c, (struct outcome){PHASE_SEND, REASON_MEMORY}, 0);
    client_due_after(d->due, c, d->span->now_ns); /* no answer will trigger the next one */
}

/* Whether the selection of the next connection does not depend on the query being queued. */
static bool may_queue_later(const struct client_config *config)
{
    return config->loop != CLIENT_LOOP_CLOSED && !config->on_demand && !config->conn_per_query &&
           config->queries_per_conn == 0;
}

/* Takes the next query that is due from the schedule, and selects its connection.  Returns whether
 * there is something to be queued. */
static bool take_due(struct client_dispatch *d, uint64_t intended_ns,
                     struct client_batch_query *query)
{
    const struct client_transport *t = d->transport;
    const struct client_config *config = t->config;
    const bool closed = config->loop == CLIENT_LOOP_CLOSED, has_classes = config->n_classes > 0;
    const uint8_t class = intended_ns < d->span->measure_ns ? TALLY_WARMUP : TALLY_MEASURED;
    bool rerouted = false;
    uint32_t chosen, class_index;

    query->query_offset = (uint32_t)client_due_take(d->due, &chosen);
    if (closed && chosen == CLIENT_CONN_NONE)
        return false;
    query->intended_ns = intended_ns;
    query->gap_us = to_us(intended_ns - d->previous_intended_ns);
    query->tag = class;
    d->previous_intended_ns = intended_ns;
    class_index = has_classes ? t->conns[chosen - t->first_conn].class_index : 0;
    query->slot = closed || config->on_demand ? chosen - t->first_conn
                  : config->conn_per_query    ? open_slot(d, intended_ns, class)
                  : has_classes ? select_in_class(d, chosen - t->first_conn, &rerouted)
                                : select_slot(d, chosen, &rerouted);
    client_figures_count_query(t->figures, class, class_index, TALLY_OF(scheduled));
    if (rerouted)
        client_figures_count_query(t->figures, class, class_index, TALLY_OF(rerouted));
    if (query->slot == CLIENT_SELECT_NO_SLOT)
        count_unsent(d, class, class_index);
    return query->slot != CLIENT_SELECT_NO_SLOT;
}

void client_dispatch_due(struct client_dispatch *d, uint64_t now_ns)
{
    const bool later = may_queue_later(d->transport->config);
    uint64_t intended_ns;
    struct client_batch_query *query;

    for (uint64_t n = 0; n < d->most_per_turn; n++) {
        intended_ns = client_due_next_ns(d->due);
        if (intended_ns > now_ns || intended_ns == PACER_NEVER)
            break;
        query = client_batch_next(&d->batch);
        if (!take_due(d, intended_ns, query))
            continue;
        if (later)
            client_batch_add(&d->batch);
        else
            queue_due(d, query);
        if (client_batch_is_full(&d->batch))
            client_batch_take_all(&d->batch, queue_due, d);
    }
    client_batch_take_all(&d->batch, queue_due, d);
}

void client_dispatch_opened(struct client_dispatch *d, struct client_conn *c)
{
    client_conn_finish(c);
    if (c->queries.queued_head != INFLIGHT_NONE)
        client_send_join(d->send, c);
}

void client_dispatch_proof(struct client_dispatch *d, struct client_conn *c)
{
    struct client_figures *f = d->transport->figures;
    struct client_batch_query query = {.slot = client_conn_slot(c), .tag = TALLY_PROBE};

    client_figures_count_query(f, TALLY_PROBE, c->class_index, TALLY_OF(scheduled));
    d->span->now_ns = clock_now_ns();
    query.intended_ns = d->span->now_ns;
    query.gap_us = to_us(query.intended_ns - d->previous_intended_ns);
    if (!queue(d, &query)) {
        client_figures_count_query(f, TALLY_PROBE, c->class_index, TALLY_OF(unsent));
        client_conn_close(c, (struct outcome){PHASE_SEND, REASON_MEMORY}, 0);
    }
}
