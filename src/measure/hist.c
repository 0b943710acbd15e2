/* SPDX-License-Identifier: MIT
 * hist: see measure/hist.h. */
#include "measure/hist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A percentile is printed if at least this many samples lie above it. */
#define SAMPLES_BEYOND 10u

enum { LINE = 8 }; /* buckets that are merged at once */

_Static_assert(HIST_COUNTS == (HIST_BUCKETS + 1) * HIST_HALF_BUCKETS, "layout");
_Static_assert(HIST_COUNTS % LINE == 0, "the last line is complete");

int hist_init(struct hist *h)
{
    *h = (struct hist){.min_ns = UINT64_MAX};
    h->counts = calloc(HIST_COUNTS, sizeof *h->counts);
    return h->counts != NULL ? 0 : -1;
}

void hist_free(struct hist *h)
{
    free(h->counts);
    h->counts = NULL;
}

/* The buckets in use, [first, end): pages outside are not touched, here or in memory. */
static uint32_t first_used(const struct hist *h)
{
    return h->counts != NULL && h->count > 0 ? hist_index(h->min_ns) : 0;
}

static uint32_t end_used(const struct hist *h)
{
    return h->counts != NULL && h->count > 0 ? hist_index(h->max_ns) + 1 : 0;
}

void hist_reset(struct hist *h)
{
    uint64_t *counts = h->counts;
    const uint32_t first = first_used(h);

    memset(counts + first, 0, (end_used(h) - first) * sizeof *counts);
    *h = (struct hist){.counts = counts, .min_ns = UINT64_MAX};
}

static uint64_t clamp(uint64_t value_ns)
{
    if (value_ns < HIST_LOWEST_NS)
        return HIST_LOWEST_NS;
    return value_ns < HIST_HIGHEST_NS ? value_ns : HIST_HIGHEST_NS;
}

/* Bucket b holds values with resolution 2^b; in all but the first, the lower half of the
 * sub-buckets would repeat the bucket below and is omitted. */
uint32_t hist_index(uint64_t value_ns)
{
    const uint64_t value = clamp(value_ns);
    const unsigned bucket = 53u - (unsigned)__builtin_clzll(value | (HIST_SUB_BUCKETS - 1));

    return (uint32_t)((uint64_t)(bucket * HIST_HALF_BUCKETS) + (value >> bucket));
}

static unsigned bucket_of(uint32_t index)
{
    return index < HIST_SUB_BUCKETS ? 0 : index / HIST_HALF_BUCKETS - 1;
}

uint64_t hist_lowest_of(uint32_t index)
{
    const unsigned bucket = bucket_of(index);

    return (uint64_t)(index - bucket * HIST_HALF_BUCKETS) << bucket;
}

uint64_t hist_highest_of(uint32_t index)
{
    return hist_lowest_of(index) + (1ull << bucket_of(index)) - 1;
}

void hist_record(struct hist *h, uint64_t value_ns)
{
    const double from_mean = (double)value_ns - h->mean_ns;

    h->counts[hist_index(value_ns)]++;
    h->count++;
    if (clamp(value_ns) != value_ns)
        h->clamped++;
    if (value_ns < h->min_ns)
        h->min_ns = value_ns;
    if (value_ns > h->max_ns)
        h->max_ns = value_ns;
    h->mean_ns += from_mean / (double)h->count;
    h->m2_ns2 += from_mean * ((double)value_ns - h->mean_ns);
}

void hist_record_beyond(struct hist *h, uint64_t n_samples)
{
    h->beyond += n_samples;
}

static void merge_moments(struct hist *into, const struct hist *from)
{
    const double n_into = (double)into->count, n_from = (double)from->count;
    const double apart = from->mean_ns - into->mean_ns;

    into->m2_ns2 += from->m2_ns2 + apart * apart * n_into * n_from / (n_into + n_from);
    into->mean_ns += apart * n_from / (n_into + n_from);
}

/* Eight buckets at once, a line of the cache: without a branch for each of them this takes half the
 * time. */
static void merge_counts(struct hist *into, const struct hist *from)
{
    const uint32_t end = end_used(from);

    for (uint32_t i = first_used(from) / LINE * LINE; i < end; i += LINE) {
        const uint64_t *more = &from->counts[i];
        uint64_t *counts = &into->counts[i];

        if ((more[0] | more[1] | more[2] | more[3] | more[4] | more[5] | more[6] | more[7]) == 0)
            continue;
        for (int k = 0; k < LINE; k++)
            counts[k] += more[k];
    }
}

void hist_merge(struct hist *into, const struct hist *from)
{
    into->beyond += from->beyond;
    if (from->count == 0)
        return;
    merge_moments(into, from);
    merge_counts(into, from);
    into->count += from->count;
    into->clamped += from->clamped;
    if (from->min_ns < into->min_ns)
        into->min_ns = from->min_ns;
    if (from->max_ns > into->max_ns)
        into->max_ns = from->max_ns;
}

uint64_t hist_value_of(const struct hist *h, uint32_t index)
{
    const bool is_last = index == hist_index(HIST_HIGHEST_NS);

    return !is_last && hist_highest_of(index) < h->max_ns ? hist_highest_of(index) : h->max_ns;
}

static uint64_t value_at_rank(const struct hist *h, uint64_t rank)
{
    const uint32_t end = end_used(h);
    uint64_t seen = 0;

    for (uint32_t i = first_used(h); i < end; i++) {
        seen += h->counts[i];
        if (seen >= rank)
            return hist_value_of(h, i);
    }
    return h->max_ns;
}

uint64_t hist_percentile(const struct hist *h, uint32_t num, uint32_t den)
{
    const uint64_t n = h->count + h->beyond;
    const uint64_t rank = n / den * num + (n % den * num + den - 1) / den;

    if (n == 0)
        return 0;
    return rank > h->count ? HIST_BEYOND : value_at_rank(h, rank);
}

uint64_t hist_count_above(const struct hist *h, uint64_t value_ns)
{
    const uint32_t above = hist_index(value_ns) + 1, first = first_used(h), end = end_used(h);
    uint64_t n = h->beyond;

    for (uint32_t i = above > first ? above : first; i < end; i++)
        n += h->counts[i];
    return n;
}

bool hist_percentile_is_supported(const struct hist *h, uint32_t num, uint32_t den)
{
    return (h->count + h->beyond) * (den - num) >= (uint64_t)SAMPLES_BEYOND * den;
}

double hist_stddev_ns(const struct hist *h)
{
    return h->count < 2 ? 0 : sqrt(h->m2_ns2 / (double)(h->count - 1));
}
