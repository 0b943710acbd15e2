/* SPDX-License-Identifier: MIT
 * hgrm: see hgrm.h. */
#include "hgrm.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

enum { LINES_PER_HALVING = 5 };

static double us(double ns)
{
    return ns / 1000;
}

/* The next percentile, 0 to 1, after one that has been reached. */
static double step(double quantile)
{
    const double halvings = floor(log2(1 / (1 - quantile))) + 1;

    return quantile + 1 / (LINES_PER_HALVING * exp2(halvings));
}

static void print_line(FILE *out, uint64_t value_ns, double quantile, uint64_t count, bool last)
{
    fprintf(out, "%12.3f %2.12f %10" PRIu64, us((double)value_ns), quantile, count);
    if (last)
        fputc('\n', out);
    else
        fprintf(out, " %14.2f\n", 1 / (1 - quantile));
}

static void print_lines(FILE *out, const struct hist *h)
{
    const uint32_t last = hist_index(h->max_ns);
    uint64_t seen = 0;
    double wanted = 0;

    for (uint32_t i = hist_index(h->min_ns); i <= last && seen < h->count; i++) {
        if (h->counts[i] == 0)
            continue;
        seen += h->counts[i];
        while (seen < h->count && wanted <= (double)seen / (double)h->count) {
            print_line(out, hist_highest_of(i), wanted, seen, false);
            wanted = step(wanted);
        }
    }
    print_line(out, h->max_ns, 1, h->count, true);
}

void hgrm_print(FILE *out, const struct hist *h)
{
    fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
            "1/(1-Percentile)");
    if (h->count > 0)
        print_lines(out, h);
    fprintf(out,
            "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n"
            "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n"
            "#[Buckets = %12u, SubBuckets     = %12u]\n",
            us(h->mean_ns), us(hist_stddev_ns(h)), us((double)h->max_ns), h->count, HIST_BUCKETS,
            HIST_SUB_BUCKETS);
}
