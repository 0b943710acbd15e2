/* SPDX-License-Identifier: MIT
 * client_due: see client/worker/due.h. */
#include "client/worker/due.h"

#include <stdlib.h>

static int init_classes(struct client_due *d)
{
    const struct client_config *config = d->transport->config;

    d->classes = d->next = &d->all;
    d->n_classes = 1;
    d->all.query = &config->query;
    if (config->n_classes == 0)
        return 0;
    d->n_classes = config->n_classes;
    d->classes = d->next = calloc(d->n_classes, sizeof *d->classes);
    for (uint32_t k = 0; d->classes != NULL && k < d->n_classes; k++)
        d->classes[k].query = &config->class_queries[k];
    return d->classes != NULL ? 0 : -1;
}

/* The connections of a class, and the part of them in this worker, which starts at number `first`.
 */
struct slice {
    uint32_t first_slot, n_slots, first, n_connections, n_at_begin;
    uint64_t interval_ns;
};

static struct slice slice_of(const struct client_due *d, uint32_t k)
{
    const struct client_transport *t = d->transport;
    const struct client_config *config = t->config;
    const uint32_t n_workers = config->n_workers;
    const struct client_class *class = config->n_classes > 0 ? &config->classes[k] : NULL;

    if (class == NULL)
        return (struct slice){.n_slots = t->n_conns,
                              .first = t->first_conn,
                              .n_connections = config->n_connections,
                              .n_at_begin = config->n_at_begin,
                              .interval_ns = config->interval_ns};
    return (struct slice){
        .first_slot = client_class_first_slot(class, n_workers, t->worker),
        .n_slots = client_class_n_slots(class, n_workers, t->worker),
        .first = arrivals_first_connection(class->n_connections, n_workers,
                                           client_class_position(class, n_workers, t->worker)),
        .n_connections = class->n_connections,
        .n_at_begin = class->n_connections,
        .interval_ns = class->interval_ns};
}

int client_due_init(struct client_due *d)
{
    int failed = init_classes(d);

    for (uint32_t k = 0;
         !failed && d->transport->config->loop == CLIENT_LOOP_CLOSED && k < d->n_classes; k++)
        failed = closed_loop_init(&d->classes[k].closed, slice_of(d, k).n_slots);
    return failed;
}

void client_due_free(struct client_due *d)
{
    for (uint32_t k = 0; d->classes != NULL && k < d->n_classes; k++)
        closed_loop_free(&d->classes[k].closed);
    if (d->classes != &d->all)
        free(d->classes);
}

/* The arrivals of all workers use the queries of a file in order. */
static void pass_arrivals(struct client_due_class *of, uint64_t n)
{
    for (; of->query->n_queries > 1 && n > 0; n--)
        of->next_query = query_after(of->query, of->next_query);
}

static void choose_next(struct client_due *d)
{
    d->next = d->classes;
    for (uint32_t k = 1; k < d->n_classes; k++)
        if (client_due_next_of_ns(d, &d->classes[k]) < client_due_next_of_ns(d, d->next))
            d->next = &d->classes[k];
}

static uint32_t pop_closed_loop(struct client_due *d)
{
    const uint32_t i = closed_loop_pop(&d->next->closed);
    struct client_conn *c = &d->transport->conns[i];

    c->in_loop = false;
    return client_conn_is_usable(c) ? d->transport->first_conn + i : CLIENT_CONN_NONE;
}

size_t client_due_take(struct client_due *d, uint32_t *connection)
{
    struct client_due_class *of = d->next;
    const size_t query = of->next_query;

    if (d->transport->config->loop == CLIENT_LOOP_CLOSED) {
        *connection = pop_closed_loop(d);
        if (*connection != CLIENT_CONN_NONE)
            pass_arrivals(of, 1);
    } else {
        *connection = of->arrivals.connection + of->shift;
        pass_arrivals(of, arrivals_advance(&of->arrivals));
    }
    if (d->n_classes > 1)
        choose_next(d);
    return query;
}

/* If the slot's previous connection is still in the loop, this one keeps its due time. */
static void push_closed_loop(struct client_due *d, struct client_conn *c, uint64_t due_ns)
{
    if (c->in_loop)
        return;
    c->in_loop = true;
    closed_loop_push(&d->classes[c->class_index].closed, due_ns, client_conn_slot(c));
}

static uint64_t interval_ns(const struct client_conn *c)
{
    const struct client_class *class = client_conn_class(c);

    return class != NULL ? class->interval_ns : c->transport->config->interval_ns;
}

void client_due_after(struct client_due *d, struct client_conn *c, uint64_t now_ns)
{
    const struct client_span *span = d->span;
    uint64_t next_ns;

    if (d->transport->config->loop != CLIENT_LOOP_CLOSED || !span->running ||
        c->state != CLIENT_CONN_LIVE)
        return;
    next_ns = client_due_next_of_ns(d, d->next);
    push_closed_loop(d, c, (now_ns > span->start_ns ? now_ns : span->start_ns) + interval_ns(c));
    if (d->n_classes > 1)
        choose_next(d);
    d->is_sooner |= client_due_next_of_ns(d, d->next) < next_ns;
}

/* Spreads the first queries over the interval.  Each worker uses the queries of a file in order,
 * starting at the same fraction of the file as its slice of the connections. */
static void start_closed_loop(struct client_due *d, uint32_t k, uint64_t start_ns)
{
    const struct client_transport *t = d->transport;
    const struct slice slice = slice_of(d, k);
    const double step_ns = (double)slice.interval_ns / slice.n_at_begin;
    const double first = (double)slice.n_at_begin * slice.first / slice.n_connections;
    struct client_due_class *of = &d->classes[k];

    of->next_query = query_at(of->query, of->query->n_queries * slice.first / slice.n_connections);
    for (uint32_t i = 0; i < slice.n_slots; i++) {
        struct client_conn *c = &t->conns[slice.first_slot + i];

        if (client_conn_is_usable(c))
            push_closed_loop(d, c, start_ns + (uint64_t)(step_ns * (first + i)));
    }
}

static void start_arrivals(struct client_due_class *of, const struct arrivals_config *arrivals,
                           uint64_t start_ns)
{
    of->has_arrivals = true;
    pass_arrivals(of, arrivals_start(&of->arrivals, arrivals, start_ns) - 1);
}

static void start_all(struct client_due *d, const bool *takes_arrivals, uint64_t start_ns)
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

    if (takes_arrivals[t->worker])
        start_arrivals(&d->all, &arrivals, start_ns);
}

/* Every worker takes the arrivals of its own connections, usable or not. */
static void start_class(struct client_due *d, uint32_t k, uint64_t start_ns)
{
    const struct client_transport *t = d->transport;
    const struct client_config *config = t->config;
    const struct client_class *class = &config->classes[k];
    const uint32_t first = client_class_first_slot(class, config->n_workers, t->worker);
    const struct arrivals_config arrivals = {
        .arrival = (enum pacer_arrival) class->arrival,
        .segments = config->schedule.segments,
        .n_segments = config->schedule.n,
        .part = class->part,
        .seed = client_class_seed(config->seed, k),
        .random = class->select == CLIENT_SELECT_RANDOM,
        .n_connections = class->n_connections,
        .n_workers = config->n_workers,
        .worker = client_class_position(class, config->n_workers, t->worker),
    };

    if (class->part <= 0 || client_class_n_slots(class, config->n_workers, t->worker) == 0)
        return;
    start_arrivals(&d->classes[k], &arrivals, start_ns);
    d->classes[k].shift = t->first_conn + first - d->classes[k].arrivals.first;
}

void client_due_start(struct client_due *d, const bool *takes_arrivals, uint64_t start_ns)
{
    const struct client_config *config = d->transport->config;

    for (uint32_t k = 0; k < d->n_classes; k++)
        d->classes[k].arrivals.pacer.next_ns = PACER_NEVER;
    for (uint32_t k = 0; k < d->n_classes; k++)
        if (config->loop == CLIENT_LOOP_CLOSED)
            start_closed_loop(d, k, start_ns);
        else if (config->n_classes > 0)
            start_class(d, k, start_ns);
        else
            start_all(d, takes_arrivals, start_ns);
    choose_next(d);
}

void client_due_replace(struct client_due *d, const struct schedule *schedule)
{
    for (uint32_t k = 0; k < d->n_classes; k++)
        if (d->classes[k].has_arrivals)
            pacer_replace(&d->classes[k].arrivals.pacer, schedule->segments, schedule->n);
    choose_next(d);
}
