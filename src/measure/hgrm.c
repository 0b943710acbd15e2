/* SPDX-License-Identifier: MIT
 * hgrm: see measure/hgrm.h. */
#include "measure/hgrm.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

enum { LINES_PER_HALVING = 5 };

static double us(double ns)
{
    return ns / 1000;
}

/* The next percentile, 0 to 1, after one has been reached. */
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
    const uint64_t n = h->count + h->beyond;
    const uint64_t most_ns = h->beyond > 0 ? hist_highest_of(HIST_BEYOND_INDEX) : h->max_ns;
    uint64_t seen = 0;
    double wanted = 0;

    for (uint32_t i = hist_index(h->min_ns); seen < h->count; i++) {
        if (h->counts[i] == 0)
            continue;
        seen += h->counts[i];
        /* the sum of the steps is inexact */
        while (seen < n && wanted <= (double)seen / (double)n + 1e-12) {
            print_line(out, hist_value_of(h, i), wanted, seen, false);
            wanted = step(wanted);
        }
    }
    print_line(out, most_ns, wanted, n, false);
    print_line(out, most_ns, 1, n, true);
}

void hgrm_print(FILE *out, const struct hist *h)
{
    fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
            "1/(1-Percentile)");
    if (h->count + h->beyond > 0)
        print_lines(out, h);
    fprintf(out,
            "#[Unanswered = %" PRIu64
            ", counted at %.3f; Mean, StdDeviation, Max: of the answers]\n"
            "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n"
            "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n"
            "#[Buckets = %12u, SubBuckets     = %12u]\n",
            h->beyond, us((double)hist_highest_of(HIST_BEYOND_INDEX)), us(hist_mean_ns(h)),
            us(hist_stddev_ns(h)), us((double)h->max_ns), h->count + h->beyond, HIST_BUCKETS,
            HIST_SUB_BUCKETS);
}
