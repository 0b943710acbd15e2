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

void hist_record_beyond(struct hist *h, uint64_t n_samples)
{
    h->beyond += n_samples;
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
    merge_counts(into, from);
    hist_add(&into->sum_ns, hist_total(from->sum_ns));
    hist_add(&into->sum_ns2, hist_total(from->sum_ns2));
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

double hist_mean_ns(const struct hist *h)
{
    return h->count > 0 ? (double)hist_total(h->sum_ns) / (double)h->count : 0;
}

/* The sum is n q + r.  The squared differences of all values from q add up to
 * sum2 - q (sum + r), those from the mean to r^2 / n less.  No digits cancel, and it does not
 * matter that sum2 is only known modulo 2^128. */
double hist_stddev_ns(const struct hist *h)
{
    const hist_uint128 sum = hist_total(h->sum_ns), sum2 = hist_total(h->sum_ns2);
    hist_uint128 q, r;
    double squares_ns2;

    if (h->count < 2)
        return 0;
    q = sum / h->count;
    r = sum % h->count;
    squares_ns2 = (double)(sum2 - q * (sum + r)) - (double)r * (double)r / (double)h->count;
    return squares_ns2 > 0 ? sqrt(squares_ns2 / (double)(h->count - 1)) : 0;
}

static hist_uint128 rounded(double value)
{
    return value < 0x1p127 ? (hist_uint128)(value + 0.5) : (hist_uint128)1 << 127;
}

void hist_set_moments(struct hist *h, double mean_ns, double stddev_ns)
{
    const double n = (double)h->count;
    const hist_uint128 sum = rounded(mean_ns * n);
    hist_uint128 q, r, squares_ns2;

    h->sum_ns = h->sum_ns2 = (struct hist_sum){0};
    if (h->count == 0)
        return;
    q = sum / h->count;
    r = sum % h->count;
    squares_ns2 = rounded(stddev_ns * stddev_ns * (n - 1) + (double)r * (double)r / n);
    hist_add(&h->sum_ns, sum);
    hist_add(&h->sum_ns2, q * (sum + r) + squares_ns2);
}
