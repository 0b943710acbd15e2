/* SPDX-License-Identifier: MIT
 * client_slots: see client/worker/slots.h. */
#include "client/worker/slots.h"

#include <stdlib.h>

/* Random streams of the seed.  client_select, the pacer and arrivals use those below. */
enum { STREAM_BACKOFF = 1 << 22 };

int client_slots_init(struct client_slots *s, uint32_t n, uint64_t seed, uint32_t worker)
{
    rng_seed(&s->rng, seed, STREAM_BACKOFF + worker);
    s->all = calloc(n, sizeof *s->all);
    return s->all != NULL ? 0 : -1;
}

void client_slots_free(struct client_slots *s)
{
    free(s->all);
}

bool client_slots_begin(struct client_slots *s, uint32_t slot)
{
    s->all[slot].n_queries = 0;
    s->all[slot].was_usable = false;
    return s->all[slot].n_begun++ > 0;
}

void client_slots_release(struct client_slots *s, uint32_t slot)
{
    s->all[slot].ended_ns = 0;
    s->all[slot].lost_ns = 0;
}

void client_slots_forget(struct client_slots *s, uint32_t slot)
{
    s->all[slot].n_begun = 0;
    s->all[slot].n_failures = 0;
    client_slots_release(s, slot);
}

uint64_t client_slots_become_usable(struct client_slots *s, uint32_t slot, uint64_t now_ns)
{
    struct client_slot *at = &s->all[slot];

    at->n_failures = 0;
    at->was_usable = true;
    return at->ended_ns != 0 ? now_ns - at->ended_ns : 0;
}

void client_slots_fail(struct client_slots *s, uint32_t slot, uint64_t now_ns)
{
    struct client_slot *at = &s->all[slot];

    at->n_failures++;
    if (at->was_usable)
        at->lost_ns = now_ns;
}

uint64_t client_slots_recover(struct client_slots *s, uint32_t slot, uint64_t now_ns)
{
    const uint64_t lost_ns = s->all[slot].lost_ns;

    s->all[slot].lost_ns = 0;
    return lost_ns != 0 ? now_ns - lost_ns : 0;
}
