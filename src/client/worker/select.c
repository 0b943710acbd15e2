/* SPDX-License-Identifier: MIT
 * client_select: see client/worker/select.h. */
#include "client/worker/select.h"

/* If every 14th slot is usable, all of these tries fail once in a hundred times. */
enum { REROUTE_TRIES = 64 };

/* Random streams, one per worker each.  The pacer and arrivals use those below. */
enum { STREAM_SELECT = (1 << 20) + 1, STREAM_REROUTE = 1 << 21 };

void client_select_init(struct client_select *s, bool random, uint64_t seed, uint32_t worker)
{
    rng_seed(&s->rng, seed, STREAM_SELECT + worker);
    rng_seed(&s->reroute_rng, seed, STREAM_REROUTE + worker);
    s->next_in_turn = 0;
    s->random = random;
}

uint32_t client_select_open(struct client_select *s, const struct client_pool *pool)
{
    const uint32_t next = s->next_in_turn;

    if (pool->n_open == 0)
        return CLIENT_SELECT_NO_SLOT;
    if (s->random)
        return client_pool_slot(pool, rng_below(&s->rng, pool->n_open));
    s->next_in_turn = next + 1 < pool->n_open ? next + 1 : 0;
    return client_pool_slot(pool, next < pool->n_open ? next : 0);
}

uint32_t client_select_listed(struct client_select *s, const uint32_t *usable, uint32_t n)
{
    return usable[rng_below(&s->reroute_rng, n)];
}

uint32_t client_select_try(struct client_select *s, uint32_t n_slots,
                           bool (*is_usable)(const void *context, uint32_t slot),
                           const void *context)
{
    for (int tries = 0; tries < REROUTE_TRIES; tries++) {
        const uint32_t i = rng_below(&s->reroute_rng, n_slots);

        if (is_usable(context, i))
            return i;
    }
    return CLIENT_SELECT_NO_SLOT;
}
