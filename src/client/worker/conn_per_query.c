/* SPDX-License-Identifier: MIT
 * client_conn_per_query: see client/worker/conn_per_query.h. */
#include "client/worker/conn_per_query.h"

#include "client/worker/conn.h"
#include "client/worker/setup_times.h"
#include "host/memory_watch.h"

#include <stdlib.h>

int client_conn_per_query_init(struct client_conn_per_query *o)
{
    const struct client_transport *t = o->transport;

    if (!t->config->conn_per_query)
        return 0;
    o->free = malloc(t->n_conns * sizeof *o->free);
    if (o->free == NULL)
        return -1;
    for (uint32_t slot = t->n_conns; slot-- > 0;)
        o->free[o->n_free++] = slot;
    return client_setup_times_init(t->figures, t->n_conns);
}

void client_conn_per_query_free(struct client_conn_per_query *o)
{
    free(o->free);
}

/* Fails a connection for which this host has no memory. */
static void refuse(struct client_conn_per_query *o, struct client_conn *c, uint64_t due_ns)
{
    client_conn_begin(c, o->transport);
    client_slots_begin(o->slots, client_conn_slot(c));
    o->slots->all[client_conn_slot(c)].tuple = CLIENT_TUPLE_NONE;
    client_setup_times_opened(c, due_ns);
    client_conn_fail(c, (struct outcome){PHASE_SOCKET, REASON_MEMORY}, 0);
}

struct client_conn *client_conn_per_query_open(struct client_conn_per_query *o, uint64_t due_ns)
{
    struct client_transport *t = o->transport;
    struct client_conn *c;
    uint32_t slot;

    if (o->n_free == 0) {
        if (due_ns > 0)
            client_setup_times_missed(t);
        return NULL;
    }
    slot = o->free[--o->n_free];
    c = &t->conns[slot];
    client_slots_forget(o->slots, slot);
    c->settled = true; /* the start of the run does not wait for this connection */
    tally_add(&t->figures->n_requested, 1);
    tally_add(&t->figures->n_opened_for_query, 1);
    if (memory_watch_take(t->config->memory))
        client_connect_open(o->connect, c, due_ns);
    else
        refuse(o, c, due_ns);
    return c;
}

void client_conn_per_query_ended(struct client_conn_per_query *o, const struct client_conn *c)
{
    if (o->free == NULL)
        return;
    tally_sub(&o->transport->figures->n_opened_for_query, 1);
    o->free[o->n_free++] = client_conn_slot(c);
}
