/* SPDX-License-Identifier: MIT
 * schedule: see workload/schedule.h. */
#include "workload/schedule.h"

#include <string.h>

void schedule_append(struct schedule *s, uint64_t duration_ns, double begin_qps, double end_qps)
{
    s->segments[s->n++] = (struct pacer_segment){duration_ns, begin_qps, end_qps};
}

void schedule_constant(struct schedule *s, uint64_t duration_ns, double rate_qps)
{
    s->n = 0;
    schedule_append(s, duration_ns, rate_qps, rate_qps);
}

/* --- warm-up, duration, mean --- */

void schedule_prepend_warmup(struct schedule *s, uint64_t duration_ns)
{
    const double rate_qps = s->segments[0].rate_begin_qps;

    if (duration_ns == 0)
        return;
    memmove(s->segments + 1, s->segments, s->n * sizeof *s->segments);
    s->segments[0] = (struct pacer_segment){duration_ns, rate_qps, rate_qps};
    s->n++;
}

uint64_t schedule_duration_ns(const struct schedule *s)
{
    uint64_t sum_ns = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (s->segments[i].duration_ns == PACER_NEVER)
            return PACER_NEVER;
        sum_ns += s->segments[i].duration_ns;
    }
    return sum_ns;
}

static double rate_in(const struct pacer_segment *s, uint64_t at_ns)
{
    return s->duration_ns == PACER_NEVER
               ? s->rate_begin_qps
               : s->rate_begin_qps + (s->rate_end_qps - s->rate_begin_qps) *
                                         ((double)at_ns / (double)s->duration_ns);
}

void schedule_scale(struct schedule *s, double factor)
{
    for (size_t i = 0; i < s->n; i++) {
        s->segments[i].rate_begin_qps *= factor;
        s->segments[i].rate_end_qps *= factor;
    }
}

double schedule_rate_qps(const struct schedule *s, uint64_t at_ns)
{
    for (size_t i = 0; i < s->n; i++) {
        if (at_ns < s->segments[i].duration_ns)
            return rate_in(&s->segments[i], at_ns);
        at_ns -= s->segments[i].duration_ns;
    }
    return 0;
}

double schedule_mean_qps(const struct schedule *s, uint64_t after_ns)
{
    double arrivals = 0, seconds = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct pacer_segment *g = &s->segments[i];
        const uint64_t skipped_ns = after_ns < g->duration_ns ? after_ns : g->duration_ns;

        if (g->duration_ns == PACER_NEVER)
            return g->rate_begin_qps;
        after_ns -= skipped_ns;
        arrivals += (rate_in(g, skipped_ns) + g->rate_end_qps) / 2 *
                    ((double)(g->duration_ns - skipped_ns) / 1e9);
        seconds += (double)(g->duration_ns - skipped_ns) / 1e9;
    }
    return seconds > 0 ? arrivals / seconds : 0;
}

/* --- parts of a schedule --- */

/* The end of segment i, which starts at start_ns. */
static uint64_t end_of(const struct schedule *s, size_t i, uint64_t start_ns)
{
    const uint64_t duration_ns = s->segments[i].duration_ns;

    return duration_ns == PACER_NEVER ? PACER_NEVER : start_ns + duration_ns;
}

/* Appends to s what `from` has from begin_ns to end_ns. */
static int append_part(struct schedule *s, const struct schedule *from, uint64_t begin_ns,
                       uint64_t end_ns)
{
    uint64_t start_ns = 0;

    for (size_t i = 0; i < from->n && start_ns < end_ns; i++) {
        const struct pacer_segment *g = &from->segments[i];
        const uint64_t stop_ns = end_of(from, i, start_ns);
        const uint64_t first_ns = start_ns > begin_ns ? start_ns : begin_ns;
        const uint64_t last_ns = stop_ns < end_ns ? stop_ns : end_ns;

        if (first_ns < last_ns && s->n == SCHEDULE_MOST)
            return -1;
        if (first_ns < last_ns && last_ns == PACER_NEVER)
            schedule_append(s, PACER_NEVER, g->rate_begin_qps, g->rate_begin_qps);
        else if (first_ns < last_ns)
            schedule_append(s, last_ns - first_ns, rate_in(g, first_ns - start_ns),
                            rate_in(g, last_ns - start_ns));
        start_ns = stop_ns;
    }
    return 0;
}

double schedule_mean_between_qps(const struct schedule *s, uint64_t begin_ns, uint64_t end_ns)
{
    struct schedule part = {.n = 0};
    double arrivals = 0;

    (void)append_part(&part, s, begin_ns, end_ns); /* a part has no more segments than the whole */
    if (part.n == 1 && part.segments[0].duration_ns == end_ns - begin_ns)
        return (part.segments[0].rate_begin_qps + part.segments[0].rate_end_qps) / 2; /* exact */
    for (size_t i = 0; i < part.n; i++)
        arrivals += (part.segments[i].rate_begin_qps + part.segments[i].rate_end_qps) / 2 *
                    (double)part.segments[i].duration_ns;
    return arrivals / (double)(end_ns - begin_ns);
}

int schedule_replace_rest(struct schedule *s, uint64_t at_ns, const struct schedule *rest)
{
    struct schedule both = {.n = 0};

    if (append_part(&both, s, 0, at_ns) != 0 || append_part(&both, rest, at_ns, PACER_NEVER) != 0)
        return -1;
    *s = both;
    return 0;
}

void schedule_flatten(struct schedule *s, uint64_t begin_ns, uint64_t end_ns)
{
    const double mean_qps = schedule_mean_between_qps(s, begin_ns, end_ns);
    struct schedule flat = {.n = 0}, mean;

    schedule_constant(&mean, end_ns, mean_qps);
    if (append_part(&flat, s, 0, begin_ns) == 0 &&
        append_part(&flat, &mean, begin_ns, end_ns) == 0 &&
        append_part(&flat, s, end_ns, PACER_NEVER) == 0)
        *s = flat;
}

/* --- properties --- */

bool schedule_is_constant(const struct schedule *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->segments[i].rate_begin_qps != s->segments[0].rate_begin_qps ||
            s->segments[i].rate_end_qps != s->segments[0].rate_begin_qps)
            return false;
    return true;
}

double schedule_peak_qps(const struct schedule *s)
{
    double peak_qps = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (s->segments[i].rate_begin_qps > peak_qps)
            peak_qps = s->segments[i].rate_begin_qps;
        if (s->segments[i].rate_end_qps > peak_qps)
            peak_qps = s->segments[i].rate_end_qps;
    }
    return peak_qps;
}
