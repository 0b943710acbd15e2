/* SPDX-License-Identifier: MIT
 * schedule: how the rate changes over time: the segments of a pacer, and the texts that describe
 * them.  Pure.
 *
 * Parsing consumes the whole text; on failure it returns -1 with one line in error
 * (SCHEDULE_ERROR_BYTES) that names the item or line, and the schedule is empty. */
#ifndef TCPSCALER_WORKLOAD_SCHEDULE_H
#define TCPSCALER_WORKLOAD_SCHEDULE_H

#include "workload/pacer.h"

#include <stdbool.h>

#define SCHEDULE_MOST_ITEMS  256u                          /* items or lines of a text */
#define SCHEDULE_MOST        (2 * SCHEDULE_MOST_ITEMS + 1) /* slopes that reach 0 are split; a warm-up */
#define SCHEDULE_ERROR_BYTES 200
#define SCHEDULE_MAX_QPS     1e9

struct schedule {
    size_t n;
    struct pacer_segment segments[SCHEDULE_MOST];
};

/* One segment; duration_ns PACER_NEVER: forever. */
void schedule_constant(struct schedule *s, uint64_t duration_ns, double rate_qps);

/* Appends a segment; there must be fewer than SCHEDULE_MOST. */
void schedule_append(struct schedule *s, uint64_t duration_ns, double begin_qps, double end_qps);

/* --- from texts: schedule_text.c --- */

/* "10s:0-5000,60s:5000,5s:5000-0": times and rates (base/units.h), separated by commas or newlines;
 * '#' starts a comment until the end of the line. */
int schedule_parse(struct schedule *s, const char *text, char *error);

/* A count of at most 256, then as many lines "<milliseconds> <queries per second>". */
int schedule_parse_steps(struct schedule *s, const char *text, char *error);

/* Likewise "<milliseconds> <queries per second, per second>", signed, starting at rate_qps; a rate
 * that reaches 0 stays there until a slope raises it again. */
int schedule_parse_slopes(struct schedule *s, const char *text, double rate_qps, char *error);

/* --- changes and properties --- */

/* Multiplies every rate by a factor > 0. */
void schedule_scale(struct schedule *s, double factor);

/* Inserts a segment with the first rate before all others.  For schedules just parsed. */
void schedule_prepend_warmup(struct schedule *s, uint64_t duration_ns);

/* Total duration; PACER_NEVER if it has no end. */
uint64_t schedule_duration_ns(const struct schedule *s);

/* Mean rate from `after_ns` to its end. */
double schedule_mean_qps(const struct schedule *s, uint64_t after_ns);
double schedule_peak_qps(const struct schedule *s);

/* Mean rate from begin_ns to end_ns since its start, begin_ns < end_ns. */
double schedule_mean_between_qps(const struct schedule *s, uint64_t begin_ns, uint64_t end_ns);

/* Replaces the schedule from at_ns on by what `rest` has from there, both counted from their start.
 * Returns -1, with s unchanged, if that needs more than SCHEDULE_MOST segments. */
int schedule_replace_rest(struct schedule *s, uint64_t at_ns, const struct schedule *rest);

/* Replaces the part between the two times, begin_ns < end_ns, by one segment with its mean rate: as
 * many arrivals.  No effect if that needs more than SCHEDULE_MOST segments. */
void schedule_flatten(struct schedule *s, uint64_t begin_ns, uint64_t end_ns);

/* Whether the rate never changes. */
bool schedule_is_constant(const struct schedule *s);

/* The rate at a time since its start; 0 after its end. */
double schedule_rate_qps(const struct schedule *s, uint64_t at_ns);

#endif
