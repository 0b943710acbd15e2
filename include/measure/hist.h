/* SPDX-License-Identifier: MIT
 * hist: a log-linear histogram of nanoseconds, 3 significant digits from 1 ns to 1 h.
 *
 * The layout is that of HdrHistogram with lowest discernible value 1, highest trackable value
 * 3,600,000,000,000 and 3 digits (2,048 sub-buckets), so its file formats can be written from these
 * counts.  Count, minimum and maximum are exact; mean and variance are running values (Welford).
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

struct hist {
    uint64_t *counts; /* HIST_COUNTS; NULL: unknown, for reading only */
    uint64_t count;   /* values recorded, clamped ones included */
    uint64_t clamped; /* of these, values outside 1 ns .. 1 h (counted in the nearest bucket) */
    uint64_t beyond;  /* samples without a value (never answered), slower than every value; not in
                         count, extremes or moments */
    uint64_t min_ns;  /* exact, before clamping; UINT64_MAX when empty */
    uint64_t max_ns;  /* exact, before clamping; 0 when empty */
    double mean_ns;   /* Welford's running mean */
    double m2_ns2;    /* Welford's sum of squared differences from the mean */
};

/* Returns 0, or -1 if out of memory. */
int hist_init(struct hist *h);
void hist_free(struct hist *h);
void hist_reset(struct hist *h);

/* The bucket of a value (clamped into range), the lowest and the highest value of a bucket. */
uint32_t hist_index(uint64_t value_ns);
uint64_t hist_lowest_of(uint32_t index);
uint64_t hist_highest_of(uint32_t index);

/* The hot path: a shift, an add, the running moments; <= 10 ns. */
void hist_record(struct hist *h, uint64_t value_ns);

/* Samples without a value. */
void hist_record_beyond(struct hist *h, uint64_t n_samples);

/* Adds the counts of `from`; exact, also for mean and variance (Chan, Golub and LeVeque, 1979). */
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

/* Sample standard deviation over all values (n - 1); 0 for fewer than two. */
double hist_stddev_ns(const struct hist *h);

#endif
