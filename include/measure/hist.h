/* SPDX-License-Identifier: MIT
 * hist: a log-linear histogram of nanoseconds, 3 significant digits from 1 ns to 1 h.
 *
 * The layout is that of HdrHistogram with lowest discernible value 1, highest trackable value
 * 3,600,000,000,000 and 3 digits (2,048 sub-buckets), so its file formats can be written from these
 * counts.  Count, minimum and maximum are exact, and so are the sums from which mean and variance
 * are computed: integers of 128 bits.
 * Pure; one writer.  Memory: about 270 kB of address space, of which only touched pages are
 * resident. */
#ifndef TCPSCALER_MEASURE_HIST_H
#define TCPSCALER_MEASURE_HIST_H

#include <stdbool.h>
#include <stdint.h>

#define HIST_DIGITS       3
#define HIST_LOWEST_NS    1ull
#define HIST_HIGHEST_NS   3600000000000ull
#define HIST_SUB_BUCKETS  2048u
#define HIST_HALF_BUCKETS 1024u
#define HIST_BUCKETS      32u    /* 2048 << 31 is the first power of two beyond the highest value */
#define HIST_COUNTS       33792u /* (HIST_BUCKETS + 1) * HIST_HALF_BUCKETS */

/* A percentile among the samples without a value. */
#define HIST_BEYOND UINT64_MAX

/* HdrHistogram's formats have no infinity: samples without a value are counted in the layout's last
 * bucket (4398.05 s).  It lies above HIST_HIGHEST_NS, so no value is ever counted in it. */
#define HIST_BEYOND_INDEX (HIST_COUNTS - 1)

__extension__ typedef unsigned __int128 hist_uint128;

/* Modulo 2^128.  Two integers, because gcc 12 copies one of 128 bits with instructions that wait
 * until both halves have left the store buffer: recording a value took 7.3 ns instead of 1.7. */
struct hist_sum {
    uint64_t low, high;
};

struct hist {
    uint64_t *counts; /* HIST_COUNTS; NULL: unknown, for reading only */
    uint64_t count;   /* values recorded, clamped ones included */
    uint64_t clamped; /* of these, values outside 1 ns .. 1 h (counted in the nearest bucket) */
    uint64_t beyond;  /* samples without a value (never answered), slower than every value; not in
                         count, extremes or moments */
    uint64_t min_ns;  /* exact, before clamping; UINT64_MAX when empty */
    uint64_t max_ns;  /* exact, before clamping; 0 when empty */
    struct hist_sum sum_ns, sum_ns2; /* of the values before clamping, of their squares */
};

/* Returns 0, or -1 if out of memory. */
int hist_init(struct hist *h);
void hist_free(struct hist *h);
void hist_reset(struct hist *h);

/* The nearest value that the layout has a bucket for. */
static inline uint64_t hist_clamp(uint64_t value_ns)
{
    if (value_ns < HIST_LOWEST_NS)
        return HIST_LOWEST_NS;
    return value_ns < HIST_HIGHEST_NS ? value_ns : HIST_HIGHEST_NS;
}

/* The bucket of a value, clamped into range.  Bucket b of the layout holds values with resolution
 * 2^b; in all but the first, the lower half of the sub-buckets would repeat the bucket below and is
 * omitted. */
static inline uint32_t hist_index(uint64_t value_ns)
{
    const uint64_t value = hist_clamp(value_ns);
    const unsigned bucket = 53u - (unsigned)__builtin_clzll(value | (HIST_SUB_BUCKETS - 1));

    return (uint32_t)((uint64_t)(bucket * HIST_HALF_BUCKETS) + (value >> bucket));
}

/* The lowest and the highest value of a bucket. */
uint64_t hist_lowest_of(uint32_t index);
uint64_t hist_highest_of(uint32_t index);

/* Adds modulo 2^128. */
static inline void hist_add(struct hist_sum *sum, hist_uint128 more)
{
    const uint64_t low = (uint64_t)more;

    sum->low += low;
    sum->high += (uint64_t)(more >> 64) + (sum->low < low);
}

static inline hist_uint128 hist_total(struct hist_sum sum)
{
    return (hist_uint128)sum.high << 64 | sum.low;
}

/* The hot path. */
static inline void hist_record(struct hist *h, uint64_t value_ns)
{
    h->counts[hist_index(value_ns)]++;
    h->count++;
    h->clamped += hist_clamp(value_ns) != value_ns;
    if (value_ns < h->min_ns)
        h->min_ns = value_ns;
    if (value_ns > h->max_ns)
        h->max_ns = value_ns;
    hist_add(&h->sum_ns, value_ns);
    hist_add(&h->sum_ns2, (hist_uint128)value_ns * value_ns);
}

/* Samples without a value. */
void hist_record_beyond(struct hist *h, uint64_t n_samples);

/* Adds the counts and sums of `from`: the result is that of recording all values in one. */
void hist_merge(struct hist *into, const struct hist *from);

/* The highest value that a bucket in use may hold: at most the maximum, which it is in the bucket
 * of HIST_HIGHEST_NS, because longer values are counted there, too. */
uint64_t hist_value_of(const struct hist *h, uint32_t index);

/* The value at rank ceil(n * num / den) of the n = count + beyond samples: hist_value_of() of its
 * bucket, or HIST_BEYOND.  The fraction uses integers because doubles put p99.9 one rank off: p99.9
 * is (999, 1000).  0 if there are no samples.  1 <= num <= den <= 1,000,000. */
uint64_t hist_percentile(const struct hist *h, uint32_t num, uint32_t den);

/* Samples in the buckets above that of a value, and those beyond: exactly those greater than the
 * highest value of its bucket, where a value above HIST_HIGHEST_NS counts as that. */
uint64_t hist_count_above(const struct hist *h, uint64_t value_ns);

/* Whether there are enough samples to print the percentile: n * (1 - q) >= 10. */
bool hist_percentile_is_supported(const struct hist *h, uint32_t num, uint32_t den);

/* 0 if there are no values. */
double hist_mean_ns(const struct hist *h);

/* Sample standard deviation over all values (n - 1); 0 for fewer than two. */
double hist_stddev_ns(const struct hist *h);

/* Sets the sums to those of `count` integers with about this mean and deviation, 0 to 1e18. */
void hist_set_moments(struct hist *h, double mean_ns, double stddev_ns);

#endif
