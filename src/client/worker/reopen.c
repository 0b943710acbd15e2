/* SPDX-License-Identifier: MIT
 * client_reopen: see client/worker/reopen.h. */
#include "client/worker/reopen.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

int client_reopen_init(struct client_reopen *r, uint32_t n_slots)
{
    *r = (struct client_reopen){.links = calloc((size_t)n_slots + 1, sizeof *r->links)};
    return r->links != NULL ? 0 : -1;
}

void client_reopen_free(struct client_reopen *r)
{
    free(r->links);
    r->links = NULL;
}

/* The link of a slot that is not in the queue is all zero. */
static bool is_in_line(const struct client_reopen *r, uint32_t i)
{
    return r->n > 0 && r->links[r->links[i].previous].next == i;
}

void client_reopen_add(struct client_reopen *r, uint32_t slot)
{
    const uint32_t i = slot + 1, last = r->links[0].previous;

    assert(!is_in_line(r, i));
    r->links[i] = (struct client_reopen_link){.previous = last};
    r->links[last].next = i;
    r->links[0].previous = i;
    r->n++;
}

static void leave(struct client_reopen *r, uint32_t i)
{
    const struct client_reopen_link link = r->links[i];

    r->links[link.previous].next = link.next;
    r->links[link.next].previous = link.previous;
    r->links[i] = (struct client_reopen_link){0};
    r->n--;
}

uint32_t client_reopen_take(struct client_reopen *r)
{
    const uint32_t slot = r->links[0].next - 1;

    leave(r, slot + 1);
    return slot;
}

void client_reopen_remove(struct client_reopen *r, uint32_t slot)
{
    if (is_in_line(r, slot + 1))
        leave(r, slot + 1);
}
