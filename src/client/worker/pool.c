/* SPDX-License-Identifier: MIT
 * client_pool: see client/worker/pool.h. */
#include "client/worker/pool.h"

#include <stdlib.h>

void client_pool_init(struct client_pool *p, uint32_t n_slots, uint32_t n_wanted)
{
    *p = (struct client_pool){.n_slots = n_slots, .n_wanted = n_wanted};
}

void client_pool_free(struct client_pool *p)
{
    free(p->order);
    free(p->index_of);
    p->order = p->index_of = NULL;
}

static uint32_t index_at(const struct client_pool *p, uint32_t from_oldest)
{
    const uint32_t i = p->oldest + from_oldest;

    return i < p->n_slots ? i : i - p->n_slots;
}

uint32_t client_pool_slot(const struct client_pool *p, uint32_t from_oldest)
{
    const uint32_t i = index_at(p, from_oldest);

    return p->order != NULL ? p->order[i] : i;
}

bool client_pool_has(const struct client_pool *p, uint32_t slot)
{
    const uint32_t i = p->index_of != NULL ? p->index_of[slot] : slot;

    return (i >= p->oldest ? i - p->oldest : i + p->n_slots - p->oldest) < p->n_open;
}

bool client_pool_has_next(const struct client_pool *p)
{
    return p->n_open - p->n_to_close + p->n_to_open < p->n_wanted && p->n_open < p->n_slots;
}

uint32_t client_pool_next(const struct client_pool *p)
{
    return client_pool_slot(p, p->n_open);
}

void client_pool_open_next(struct client_pool *p)
{
    p->n_open++;
}

void client_pool_want(struct client_pool *p, uint32_t n)
{
    p->n_wanted = n;
}

uint32_t client_pool_close_oldest(struct client_pool *p)
{
    const uint32_t slot = client_pool_slot(p, 0);

    p->oldest = index_at(p, 1);
    p->n_open--;
    return slot;
}

static uint32_t close_newest(struct client_pool *p)
{
    return client_pool_slot(p, --p->n_open);
}

/* --- order --- */

static bool make_order(struct client_pool *p)
{
    p->order = calloc(p->n_slots, sizeof *p->order);
    p->index_of = calloc(p->n_slots, sizeof *p->index_of);
    if (p->order == NULL || p->index_of == NULL) {
        client_pool_free(p);
        return false;
    }
    for (uint32_t i = 0; i < p->n_slots; i++)
        p->order[i] = p->index_of[i] = i;
    return true;
}

/* Copies the open slots that are good, or those that are not, to `to`, in order. */
static uint32_t copy(const struct client_pool *p, client_pool_is_good *is_good, const void *context,
                     bool good, uint32_t *to)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_open; i++)
        if (is_good(context, client_pool_slot(p, i)) == good)
            to[n++] = client_pool_slot(p, i);
    return n;
}

void client_pool_prefer(struct client_pool *p, client_pool_is_good *is_good, const void *context)
{
    uint32_t *sorted = calloc(p->n_slots, sizeof *sorted), n_good;

    if (sorted != NULL && (p->order != NULL || make_order(p))) {
        n_good = copy(p, is_good, context, true, sorted);
        (void)copy(p, is_good, context, false, sorted + n_good);
        for (uint32_t i = 0; i < p->n_open; i++) {
            p->order[index_at(p, i)] = sorted[i];
            p->index_of[sorted[i]] = index_at(p, i);
        }
    }
    free(sorted);
}

/* --- changes by request --- */

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t client_pool_request(struct client_pool *p, uint32_t n)
{
    const uint32_t n_allowed = p->n_wanted - (p->n_open - p->n_to_close + p->n_to_open);
    const uint32_t n_more = n > p->n_wanted ? n - p->n_wanted : 0;
    const uint32_t n_kept = p->closes_newest ? least(n_more, p->n_to_close) : 0;
    const uint32_t n_fewer = n < p->n_wanted ? p->n_wanted - n : 0;
    const uint32_t n_withdrawn = least(n_fewer, p->n_to_open);
    const uint32_t n_not_open = least(n_fewer - n_withdrawn, n_allowed);

    p->n_wanted = n;
    p->n_to_close += n_fewer - n_withdrawn - n_not_open - n_kept;
    p->n_to_open += n_more - n_kept - n_withdrawn;
    return n_more - n_kept;
}

bool client_pool_is_stepping(const struct client_pool *p)
{
    return p->n_to_close > 0 || p->n_to_open > 0;
}

bool client_pool_step(struct client_pool *p, uint32_t *to_close)
{
    if (p->n_to_close == 0 || (p->n_to_open > 0 && p->n_open < p->n_slots)) {
        p->n_to_open--;
        return false;
    }
    p->n_to_close--;
    *to_close = p->closes_newest ? close_newest(p) : client_pool_close_oldest(p);
    return true;
}
