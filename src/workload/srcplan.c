/* SPDX-License-Identifier: MIT
 * srcplan: see workload/srcplan.h.  Texts are read in srcplan_text.c, socket addresses are made in
 * net/sock. */
#include "workload/srcplan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* More addresses in one item than any host has connections. */
#define MAX_RANGE (1ull << 32)

void srcplan_init(struct srcplan *p)
{
    *p = (struct srcplan){0};
}

void srcplan_free(struct srcplan *p)
{
    free(p->ranges);
    free(p->ports);
    *p = (struct srcplan){0};
}

int srcplan_distance(const struct srcplan_address *first, const struct srcplan_address *last,
                     uint64_t *n)
{
    uint64_t sum = 0;

    if (first->family != last->family ||
        memcmp(first->bytes, last->bytes, srcplan_address_bytes(first->family)) > 0)
        return -1;
    for (size_t i = 0; i < srcplan_address_bytes(first->family); i++) {
        if (sum > MAX_RANGE)
            return -1;
        sum = (sum << 8) + last->bytes[i] - first->bytes[i];
    }
    *n = sum;
    return sum < MAX_RANGE ? 0 : -1;
}

static void add_to_address(struct srcplan_address *a, uint64_t n)
{
    for (size_t i = srcplan_address_bytes(a->family); i-- > 0 && n > 0; n >>= 8) {
        n += a->bytes[i];
        a->bytes[i] = (uint8_t)n;
    }
}

uint32_t srcplan_exclude_ports(struct srcplan *p, uint16_t first, uint16_t last)
{
    const uint32_t n_before = p->n_ports;

    p->n_ports = 0;
    for (uint32_t i = 0; i < n_before; i++)
        if (p->ports[i] < first || p->ports[i] > last)
            p->ports[p->n_ports++] = p->ports[i];
    return n_before - p->n_ports;
}

static bool is_automatic(const struct srcplan *p)
{
    return p->ports == NULL;
}

uint64_t srcplan_capacity(const struct srcplan *p)
{
    if (is_automatic(p))
        return UINT64_MAX;
    return p->n_ranges == 0 ? p->n_ports : p->n_addresses * p->n_ports;
}

int srcplan_family(const struct srcplan *p)
{
    return p->n_ranges == 0 ? AF_UNSPEC : p->ranges[0].first.family;
}

bool srcplan_has_address(const struct srcplan *p, const struct srcplan_address *address)
{
    uint64_t n;

    for (size_t i = 0; i < p->n_ranges; i++)
        if (srcplan_distance(&p->ranges[i].first, address, &n) == 0 && n < p->ranges[i].count)
            return true;
    return false;
}

static int by_first(const void *a, const void *b)
{
    const struct srcplan_range *x = a, *y = b;

    if (x->first.scope != y->first.scope)
        return x->first.scope < y->first.scope ? -1 : 1;
    return memcmp(x->first.bytes, y->first.bytes, sizeof x->first.bytes);
}

/* b does not begin before a. */
static bool overlap(const struct srcplan_range *a, const struct srcplan_range *b)
{
    uint64_t n;

    return a->first.scope == b->first.scope && srcplan_distance(&a->first, &b->first, &n) == 0 &&
           n < a->count;
}

int srcplan_find_repeat(const struct srcplan *p, struct srcplan_address *address)
{
    struct srcplan_range *sorted = calloc(p->n_ranges + 1, sizeof *sorted);
    int found = 0;

    if (sorted == NULL)
        return -1;
    if (p->n_ranges > 0)
        memcpy(sorted, p->ranges, p->n_ranges * sizeof *sorted);
    qsort(sorted, p->n_ranges, sizeof *sorted, by_first);
    for (size_t i = 1; i < p->n_ranges && !found; i++) {
        found = overlap(&sorted[i - 1], &sorted[i]);
        if (found)
            *address = sorted[i].first;
    }
    free(sorted);
    return found;
}

static const struct srcplan_range *range_of(const struct srcplan *p, uint64_t address)
{
    size_t low = 0, high = p->n_ranges;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (p->ranges[middle].before <= address)
            low = middle;
        else
            high = middle;
    }
    return &p->ranges[low];
}

void srcplan_at(const struct srcplan *p, uint64_t i, struct srcplan_tuple *tuple)
{
    uint64_t address = i;

    *tuple = (struct srcplan_tuple){.address = {.family = AF_UNSPEC}};
    if (!is_automatic(p)) {
        assert(i < srcplan_capacity(p));
        tuple->port = p->ports[i % p->n_ports];
        address = i / p->n_ports;
    }
    if (p->n_ranges > 0) {
        const struct srcplan_range *range = range_of(p, address % p->n_addresses);

        tuple->address = range->first;
        add_to_address(&tuple->address, address % p->n_addresses - range->before);
    }
}
