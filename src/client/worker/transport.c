/* SPDX-License-Identifier: MIT
 * client_transport: see client/worker/transport.h. */
#include "client/worker/transport.h"

#include "base/clock.h"

#include <stdlib.h>

/* Assigns the slots to the classes. */
static void assign_classes(struct client_transport *t)
{
    const struct client_config *config = t->config;

    for (uint32_t k = 0; k < config->n_classes; k++) {
        const struct client_class *class = &config->classes[k];
        const uint32_t first = client_class_first_slot(class, config->n_workers, t->worker);
        const uint32_t n = client_class_n_slots(class, config->n_workers, t->worker);

        for (uint32_t i = 0; i < n; i++)
            t->conns[first + i].class_index = k & (CLIENT_CLASS_MOST - 1);
    }
}

int client_transport_init(struct client_transport *t)
{
    const struct timeval timeout = clock_timeval(t->config->connect_timeout_ns);

    t->first_ended = t->last_ended = CLIENT_CONN_NONE;
    t->received = malloc(CLIENT_RECEIVE_BYTES);
    t->conns = calloc(t->n_conns, sizeof *t->conns);
    if (t->received == NULL || t->conns == NULL)
        return -1;
    assign_classes(t);
    if (poller_init(&t->poller, t->base) != 0)
        return -1;
    t->connect_timeout = event_base_init_common_timeout(t->base, &timeout);
    return t->connect_timeout != NULL ? 0 : -1;
}

void client_transport_free(struct client_transport *t)
{
    poller_free(&t->poller);
    free(t->received);
    free(t->conns);
}

bool client_transport_is_usable(const void *transport, uint32_t slot)
{
    const struct client_transport *t = transport;

    return client_conn_is_usable(&t->conns[slot]);
}
