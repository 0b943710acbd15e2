/* SPDX-License-Identifier: MIT
 * client_reopen: see client/worker/reopen.h. */
#include "client/worker/reopen.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

int client_reopen_init(struct client_reopen *r, uint32_t n_slots)
{
    *r = (struct client_reopen){.places = calloc((size_t)n_slots + 1, sizeof *r->places)};
    return r->places != NULL ? 0 : -1;
}

void client_reopen_free(struct client_reopen *r)
{
    free(r->places);
    r->places = NULL;
}

/* The place of a slot that is not in the queue is all zero. */
static bool is_in_line(const struct client_reopen *r, uint32_t i)
{
    return r->n > 0 && r->places[r->places[i].before].behind == i;
}

void client_reopen_add(struct client_reopen *r, uint32_t slot)
{
    const uint32_t i = slot + 1, last = r->places[0].before;

    assert(!is_in_line(r, i));
    r->places[i] = (struct client_reopen_place){.before = last};
    r->places[last].behind = i;
    r->places[0].before = i;
    r->n++;
}

uint32_t client_reopen_first(const struct client_reopen *r)
{
    return r->places[0].behind - 1;
}

static void leave(struct client_reopen *r, uint32_t i)
{
    const struct client_reopen_place place = r->places[i];

    r->places[place.before].behind = place.behind;
    r->places[place.behind].before = place.before;
    r->places[i] = (struct client_reopen_place){0};
    r->n--;
}

uint32_t client_reopen_take(struct client_reopen *r)
{
    const uint32_t slot = client_reopen_first(r);

    leave(r, slot + 1);
    return slot;
}

void client_reopen_remove(struct client_reopen *r, uint32_t slot)
{
    if (is_in_line(r, slot + 1))
        leave(r, slot + 1);
}
