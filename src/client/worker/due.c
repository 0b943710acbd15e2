/* SPDX-License-Identifier: MIT
 * client_due: see client/worker/due.h. */
#include "client/worker/due.h"

int client_due_init(struct client_due *d)
{
    if (d->transport->config->loop == CLIENT_LOOP_OPEN)
        return 0;
    return closed_loop_init(&d->closed, d->transport->n_conns);
}

void client_due_free(struct client_due *d)
{
    closed_loop_free(&d->closed);
}

/* The arrivals of all workers use the queries of a file in order. */
static void pass_arrivals(struct client_due *d, uint64_t n)
{
    const struct query *query = &d->transport->config->query;

    for (; query->n_queries > 1 && n > 0; n--)
        d->next_query = query_after(query, d->next_query);
}

static uint32_t pop_closed_loop(struct client_due *d)
{
    const uint32_t i = closed_loop_pop(&d->closed);
    struct client_conn *c = &d->transport->conns[i];

    c->in_loop = false;
    return client_conn_is_usable(c) ? d->transport->first_conn + i : CLIENT_CONN_NONE;
}

size_t client_due_take(struct client_due *d, uint32_t *connection)
{
    const size_t query = d->next_query;

    if (d->transport->config->loop == CLIENT_LOOP_CLOSED) {
        *connection = pop_closed_loop(d);
        if (*connection != CLIENT_CONN_NONE)
            pass_arrivals(d, 1);
    } else {
        *connection = d->arrivals.connection;
        pass_arrivals(d, arrivals_advance(&d->arrivals));
    }
    return query;
}

/* The connection may still be in the loop for its predecessor in the slot; then it keeps that turn.
 */
static void push_closed_loop(struct client_due *d, struct client_conn *c, uint64_t due_ns)
{
    if (c->in_loop)
        return;
    c->in_loop = true;
    closed_loop_push(&d->closed, due_ns, client_conn_slot(c));
}

void client_due_after(struct client_due *d, struct client_conn *c, uint64_t now_ns)
{
    const struct client_config *config = d->transport->config;
    const struct client_span *span = d->span;

    if (config->loop != CLIENT_LOOP_CLOSED || !span->running || c->state != CLIENT_CONN_LIVE)
        return;
    push_closed_loop(d, c,
                     (now_ns > span->start_ns ? now_ns : span->start_ns) + config->interval_ns);
    d->is_sooner |= d->closed.count == 1; /* the loop was empty */
}

static void spread_closed_loop(struct client_due *d, uint64_t start_ns)
{
    const struct client_transport *t = d->transport;
    const struct client_config *config = t->config;
    const double step_ns = (double)config->interval_ns / config->n_at_begin;
    const double first = (double)config->n_at_begin * t->first_conn / config->n_connections;

    for (uint32_t i = 0; i < t->n_conns; i++)
        if (client_conn_is_usable(&t->conns[i]))
            push_closed_loop(d, &t->conns[i], start_ns + (uint64_t)(step_ns * (first + i)));
}

/* In a closed loop each worker uses the queries of a file in order, starting at the same fraction
 * of the file as its slice of the connections. */
static size_t first_query(const struct client_transport *t)
{
    const struct query *query = &t->config->query;

    return query_at(query, query->n_queries * t->first_conn / t->config->n_connections);
}

void client_due_start(struct client_due *d, const bool *takes_arrivals, uint64_t start_ns)
{
    const struct client_transport *t = d->transport;
    const struct client_config *config = t->config;
    const struct arrivals_config arrivals = {
        .arrival = (enum pacer_arrival)config->arrival,
        .segments = config->schedule.segments,
        .n_segments = config->schedule.n,
        .none_at_start =
            config->population.n > 0 && config->schedule.segments[0].rate_begin_qps == 0,
        .seed = config->seed,
        .random = config->select == CLIENT_SELECT_RANDOM,
        .n_connections = config->n_connections,
        .n_workers = config->n_workers,
        .worker = t->worker,
        .takes = takes_arrivals,
    };

    d->arrivals.pacer.next_ns = PACER_NEVER;
    if (config->loop == CLIENT_LOOP_CLOSED) {
        d->next_query = first_query(t);
        spread_closed_loop(d, start_ns);
    } else if (takes_arrivals[t->worker]) {
        pass_arrivals(d, arrivals_start(&d->arrivals, &arrivals, start_ns) - 1);
    }
}

void client_due_replace(struct client_due *d, const struct schedule *schedule)
{
    pacer_replace(&d->arrivals.pacer, schedule->segments, schedule->n);
}
