/* SPDX-License-Identifier: MIT
 * inflight_slots: see workload/inflight_slots.h. */
#include "workload/inflight_slots.h"

#include <stdlib.h>

#define NONE INFLIGHT_NONE

enum { FEWEST_SLOTS = 64 };

static int grow(struct inflight *t, uint32_t n_slots)
{
    struct inflight_query *slots = realloc(t->slots, n_slots * sizeof *slots);

    if (slots == NULL)
        return -1;
    t->slots = slots;
    if (t->has_ids) {
        uint32_t *buckets = calloc(n_slots, sizeof *buckets);

        if (buckets == NULL)
            return -1;
        free(t->buckets);
        t->buckets = buckets;
        t->n_buckets = n_slots;
        for (uint32_t slot = 0; slot < t->n_touched; slot++)
            if (slots[slot].state > INFLIGHT_QUEUED && slots[slot].hash_next != NONE)
                inflight_slots_enter(t, slot);
    }
    t->n_slots = n_slots;
    return 0;
}

uint32_t inflight_slots_take_new(struct inflight *t)
{
    if (t->n_touched == t->n_slots && (t->n_slots >= 1u << 31 || grow(t, t->n_slots * 2) != 0))
        return NONE;
    return t->n_touched++;
}

static uint32_t slots_for(uint32_t capacity_hint)
{
    uint32_t n_slots = FEWEST_SLOTS;

    while (inflight_slots_most_used(n_slots) < capacity_hint && n_slots < 1u << 30)
        n_slots *= 2;
    return n_slots;
}

uint64_t inflight_slots_bytes(uint32_t capacity_hint, bool has_ids)
{
    return slots_for(capacity_hint) *
           (sizeof(struct inflight_query) + (has_ids ? sizeof(uint32_t) : 0));
}

int inflight_slots_init(struct inflight *t, uint32_t capacity_hint, bool has_ids)
{
    *t = (struct inflight){.has_ids = has_ids, .fifo_head = NONE, .fifo_tail = NONE};
    if (grow(t, slots_for(capacity_hint)) == 0)
        return 0;
    inflight_slots_free(t);
    return -1;
}

void inflight_slots_free(struct inflight *t)
{
    free(t->slots);
    free(t->buckets);
    *t = (struct inflight){.fifo_head = NONE, .fifo_tail = NONE};
}

void inflight_slots_index(struct inflight *t, struct inflight_list *list)
{
    for (uint32_t i = list->head; i != list->queued_head; i = t->slots[i].conn_next)
        inflight_slots_enter(t, i);
    list->indexed = true;
}
