/* SPDX-License-Identifier: MIT
 * client_reopen: see client/worker/reopen.h. */
#include "client/worker/reopen.h"

#include <stdlib.h>

int client_reopen_init(struct client_reopen *r, uint32_t n_slots)
{
    *r = (struct client_reopen){.slots = calloc(n_slots, sizeof *r->slots), .n_slots = n_slots};
    return r->slots != NULL ? 0 : -1;
}

void client_reopen_free(struct client_reopen *r)
{
    free(r->slots);
    r->slots = NULL;
}

static uint32_t *at(const struct client_reopen *r, uint32_t i)
{
    return &r->slots[(r->first + i) % r->n_slots];
}

void client_reopen_add(struct client_reopen *r, uint32_t slot)
{
    *at(r, r->n++) = slot;
}

uint32_t client_reopen_first(const struct client_reopen *r)
{
    return *at(r, 0);
}

uint32_t client_reopen_take(struct client_reopen *r)
{
    const uint32_t slot = client_reopen_first(r);

    r->first = (r->first + 1) % r->n_slots;
    r->n--;
    return slot;
}

void client_reopen_remove(struct client_reopen *r, uint32_t slot)
{
    const uint32_t n = r->n;

    r->n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (*at(r, i) != slot)
            client_reopen_add(r, *at(r, i));
}
