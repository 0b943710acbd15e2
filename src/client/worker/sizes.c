/* SPDX-License-Identifier: MIT
 * client_sizes: see client/worker/sizes.h. */
#include "client/worker/sizes.h"

#include <stdlib.h>
#include <string.h>

int client_sizes_init(struct client_sizes *s)
{
    const struct client_transport *t = s->transport;

    if (t->config->sizes == NULL)
        return 0;
    s->owed = calloc(t->n_conns, t->config->n_sizes * sizeof *s->owed);
    return s->owed != NULL ? 0 : -1;
}

void client_sizes_free(struct client_sizes *s)
{
    free(s->owed);
}

/* Returns the connection's number of answers still to come, by size. */
static uint32_t *owed_by(const struct client_sizes *s, const struct client_conn *c)
{
    return s->owed + (size_t)client_conn_slot(c) * s->transport->config->n_sizes;
}

/* Returns the earliest size of which answers are still to come, or the current one. */
static uint32_t earliest(const struct client_sizes *s, const uint32_t *owed)
{
    uint32_t size = 0;

    while (size < s->current && owed[size] == 0)
        size++;
    return size;
}

/* Returns how many answers to queries sent so far are still to come. */
static uint32_t count_owed(const struct client_sizes *s, const struct client_conn *c)
{
    uint32_t n = c->queries.n_reserved, slot = c->queries.head;

    for (; slot != INFLIGHT_NONE; slot = inflight_at(s->inflight, slot)->conn_next)
        n += inflight_at(s->inflight, slot)->state == INFLIGHT_SENT;
    return n;
}

/* The size of the connection's queries is about to change. */
static void keep_owed(const struct client_sizes *s, struct client_conn *c)
{
    uint32_t n = count_owed(s, c), *owed;

    if (n == 0)
        return;
    owed = owed_by(s, c);
    if (!c->owes_earlier)
        memset(owed, 0, s->transport->config->n_sizes * sizeof *owed);
    for (uint32_t size = 0; size < s->current; size++)
        n -= owed[size];
    owed[s->current] = n;
    c->owes_earlier = true;
}

void client_sizes_change(struct client_sizes *s, uint32_t size)
{
    struct client_transport *t = s->transport;

    if (size == s->current)
        return;
    for (uint32_t i = 0; i < t->n_conns; i++)
        if (t->conns[i].state != CLIENT_CONN_NEW)
            keep_owed(s, &t->conns[i]);
    s->current = size;
    t->query = &t->config->sizes[size];
}

const struct query *client_sizes_next(const struct client_sizes *s, const struct client_conn *c)
{
    return &s->transport->config->sizes[earliest(s, owed_by(s, c))];
}

void client_sizes_answered(const struct client_sizes *s, struct client_conn *c)
{
    uint32_t *owed = owed_by(s, c);

    owed[earliest(s, owed)]--;
    c->owes_earlier = earliest(s, owed) < s->current;
}
