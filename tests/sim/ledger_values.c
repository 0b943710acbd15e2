/* SPDX-License-Identifier: MIT
 * ledger_values: see ledger_values.h.  Buckets and ranks are computed here from their definition,
 * not by the product's code. */
#include "ledger_values.h"

#include "client/worker/class.h"
#include "memory.h"
#include "violation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How many values are kept one by one; for more, only the buckets are kept. */
enum { MOST_KEPT = 1 << 20, N_METRICS = CLIENT_N_QUERY_METRICS + 2 * CLIENT_CLASS_MOST };

#define HIGHEST_NS 3600000000000ull

struct values {
    uint64_t n, min_ns, max_ns;
    uint64_t *kept;
    uint64_t counts[HIST_COUNTS];
    uint32_t first, end; /* buckets in use */
};

/* Times at which the queries of a class were due. */
struct due {
    uint64_t *kept;
    size_t n;
};

static struct values all[N_METRICS];
static struct due due[CLIENT_CLASS_MOST];

void ledger_values_begin(void)
{
    for (uint32_t k = 0; k < CLIENT_CLASS_MOST; k++)
        due[k].n = 0;
    for (int m = 0; m < N_METRICS; m++) {
        struct values *v = &all[m];

        if (v->end > v->first)
            memset(v->counts + v->first, 0, (v->end - v->first) * sizeof *v->counts);
        v->n = v->max_ns = v->end = 0;
        v->min_ns = UINT64_MAX;
        v->first = HIST_COUNTS;
    }
}

/* 2,048 buckets of 1 ns, then 1,024 of 2 ns, 1,024 of 4 ns, and so on. */
static uint32_t bucket_of(uint64_t value_ns, unsigned *shift)
{
    uint64_t value = value_ns < 1 ? 1 : value_ns > HIGHEST_NS ? HIGHEST_NS : value_ns;

    for (*shift = 0; value >= 2048; value >>= 1)
        ++*shift;
    return *shift == 0 ? (uint32_t)value : 2048 + (*shift - 1) * 1024 + (uint32_t)value - 1024;
}

/* Room that is used only as values are added. */
static void make_room(uint64_t **kept)
{
    if (*kept == NULL)
        *kept = memory_own(NULL, MOST_KEPT * sizeof **kept);
}

void ledger_values_add(int metric, uint64_t value_ns)
{
    struct values *v = &all[metric];
    unsigned shift;
    const uint32_t bucket = bucket_of(value_ns, &shift);

    make_room(&v->kept);
    if (v->n < MOST_KEPT)
        v->kept[v->n] = value_ns;
    v->n++;
    v->counts[bucket]++;
    if (bucket < v->first)
        v->first = bucket;
    if (bucket >= v->end)
        v->end = bucket + 1;
    if (value_ns < v->min_ns)
        v->min_ns = value_ns;
    if (value_ns > v->max_ns)
        v->max_ns = value_ns;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

    return one < other ? -1 : one > other;
}

/* Returns the value at rank ceil(n num / den), as a histogram of this layout reports it. */
static uint64_t percentile(const struct values *v, uint64_t beyond, uint64_t num, uint64_t den)
{
    const uint64_t n = v->n + beyond;
    const uint64_t rank = n / den * num + (n % den * num + den - 1) / den;
    uint64_t value, highest;
    unsigned shift;

    if (n == 0)
        return 0;
    if (rank > v->n)
        return HIST_BEYOND;
    value = v->kept[rank - 1];
    bucket_of(value, &shift);
    value = value < 1 ? 1 : value > HIGHEST_NS ? HIGHEST_NS : value;
    highest = ((value >> shift) + 1) * (1ull << shift) - 1;
    return highest < v->max_ns ? highest : v->max_ns;
}

static void check_percentiles(int metric, struct values *v, const struct hist *h, uint64_t beyond)
{
    static const uint32_t asked[][2] = {{1, 2},      {9, 10},       {95, 100}, {99, 100},
                                        {999, 1000}, {9999, 10000}, {1, 1},    {1, 1000}};

    if (v->n > 0)
        qsort(v->kept, v->n, sizeof *v->kept, by_value);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const uint64_t is = hist_percentile(h, asked[i][0], asked[i][1]);
        const uint64_t expected = percentile(v, beyond, asked[i][0], asked[i][1]);

        LAW(is == expected, "metric %d: percentile %u/%u is %" PRIu64 ", not %" PRIu64, metric,
            asked[i][0], asked[i][1], is, expected);
    }
}

void ledger_values_check(int metric, const struct hist *h, uint64_t beyond)
{
    struct values *v = &all[metric];

    LAW(h->count == v->n, "metric %d: %" PRIu64 " values, not %" PRIu64, metric, h->count, v->n);
    LAW(h->beyond == beyond, "metric %d: %" PRIu64 " beyond, not %" PRIu64, metric, h->beyond,
        beyond);
    if (v->n > 0) {
        LAW(h->min_ns == v->min_ns && h->max_ns == v->max_ns, "metric %d: extremes", metric);
        for (uint32_t i = v->first; i < v->end; i++)
            LAW(h->counts[i] == v->counts[i], "metric %d: bucket %u has %" PRIu64 ", not %" PRIu64,
                metric, i, h->counts[i], v->counts[i]);
    }
    if (v->n <= MOST_KEPT)
        check_percentiles(metric, v, h, beyond);
}

void ledger_values_add_due(uint32_t k, uint64_t due_ns)
{
    struct due *d = &due[k];

    make_room(&d->kept);
    if (d->n < MOST_KEPT)
        d->kept[d->n] = due_ns;
    d->n++;
}

const uint64_t *ledger_values_due(uint32_t k, size_t *n)
{
    struct due *d = &due[k];

    make_room(&d->kept);
    *n = d->n;
    if (d->n > MOST_KEPT)
        return NULL;
    qsort(d->kept, d->n, sizeof *d->kept, by_value);
    return d->kept;
}
