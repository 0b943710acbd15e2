/* SPDX-License-Identifier: MIT
 * client_usable: see client/worker/usable.h. */
#include "client/worker/usable.h"

#include <stdlib.h>

int client_usable_keep(struct client_usable *u)
{
    const struct client_transport *t = u->transport;
    const struct client_config *config = t->config;

    u->slots = calloc(t->n_conns, sizeof *u->slots);
    u->positions = calloc(t->n_conns, sizeof *u->positions);
    if (u->slots == NULL || u->positions == NULL) {
        client_usable_free(u);
        return -1;
    }
    u->lists[0].slots = u->slots;
    for (uint32_t k = 0; k < config->n_classes; k++)
        u->lists[k].slots =
            u->slots + client_class_first_slot(&config->classes[k], config->n_workers, t->worker);
    return 0;
}

int client_usable_gather(struct client_usable *u)
{
    const struct client_transport *t = u->transport;

    if (client_usable_keep(u) != 0)
        return -1;
    for (uint32_t i = 0; i < t->n_conns; i++)
        if (client_conn_is_usable(&t->conns[i]))
            client_usable_add(u, &t->conns[i]);
    return 0;
}

void client_usable_free(struct client_usable *u)
{
    free(u->slots);
    free(u->positions);
    u->slots = u->positions = NULL;
}

void client_usable_add(struct client_usable *u, const struct client_conn *c)
{
    struct client_usable_list *list = &u->lists[c->class_index];
    const uint32_t slot = client_conn_slot(c);

    if (!client_usable_are_kept(u))
        return;
    u->positions[slot] = list->n;
    list->slots[list->n++] = slot;
}

/* Moves the last element to the free position. */
void client_usable_remove(struct client_usable *u, const struct client_conn *c)
{
    struct client_usable_list *list = &u->lists[c->class_index];
    uint32_t position, last;

    if (!client_usable_are_kept(u))
        return;
    position = u->positions[client_conn_slot(c)];
    last = list->slots[--list->n];
    list->slots[position] = last;
    u->positions[last] = position;
}
