/* SPDX-License-Identifier: MIT
 * mismatch: see report/mismatch.h. */
#include "report/mismatch.h"

#include "report/fingerprint.h"
#include "report/result.h"
#include "report/result_figures.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Least overlap of runs that were meant to run in parallel. */
#define LEAST_OVERLAP 0.9

/* Room for the names of two files and settings. */
enum { LINE_BYTES = 1000 };

static bool have_same_seed(const struct recording *a, const struct recording *b)
{
    uint64_t seed_a, seed_b;

    return result_u64(a->result, "seed", &seed_a) && result_u64(b->result, "seed", &seed_b) &&
           seed_a == seed_b;
}

static bool sent_queries(const struct json_object *result)
{
    uint64_t n;

    return result_u64(result, "queries.sent", &n) && n > 0;
}

static bool has_random_arrivals(const struct json_object *result)
{
    const char *kind = result_string(result, "options.connect-arrival");

    return kind != NULL && strcmp(kind, "window") != 0 && strcmp(kind, "constant") != 0;
}

/* Returns what is identical in both runs if they have the same seed; NULL: nothing. */
static const char *what_is_the_same(const struct json_object *a, const struct json_object *b)
{
    const bool queries = sent_queries(a) && sent_queries(b);
    char text[FINGERPRINT_TEXT_BYTES];

    if (!queries && !(has_random_arrivals(a) && has_random_arrivals(b)))
        return NULL;
    if (fingerprint_settings(a, b, text) > 0)
        return "drew the same random numbers";
    return queries ? "sent the same queries at the same times"
                   : "opened connections at the same times";
}

/* Reports the first of the preceding runs that has the same seed. */
static void compare_seed(const struct recordings *all, size_t i, mismatch_say *say, void *context)
{
    const struct recording *r = &all->items[i];
    char line[LINE_BYTES];

    for (size_t k = 0; k < i; k++) {
        const struct recording *other = &all->items[k];
        const char *what;

        /* first, since there are as many pairs as runs squared, and settings take long to compare
         */
        if (!have_same_seed(other, r))
            continue;
        what = what_is_the_same(other->result, r->result);
        if (what == NULL)
            continue;
        snprintf(line, sizeof line, "%.250s and %.250s have the same seed, so they %s", other->name,
                 r->name, what);
        say(context, line);
        return;
    }
}

static void compare_settings(const struct recording *a, const struct recording *b,
                             mismatch_say *say, void *context)
{
    char text[FINGERPRINT_TEXT_BYTES], line[LINE_BYTES];

    if (fingerprint_settings(a->result, b->result, text) == 0)
        return;
    snprintf(line, sizeof line, "%.250s and %.250s have different settings: %s", a->name, b->name,
             text);
    say(context, line);
}

/* Whether its measurement began: without one, there are no rates to add. */
static bool was_measured(const struct recording *r)
{
    double duration_s = 0;

    (void)result_double(r->result, "rate.duration_s", &duration_s);
    return result_find(r->result, "measured_from") != NULL || duration_s > 0;
}

/* Returns the first run that was measured; NULL: none. */
static const struct recording *first_measured(const struct recordings *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (was_measured(&all->items[i]))
            return &all->items[i];
    return NULL;
}

static void compare_times(const struct recording *a, const struct recording *b, mismatch_say *say,
                          void *context)
{
    uint64_t begin_a, end_a, begin_b, end_b, shorter_ns;
    char line[LINE_BYTES];
    int64_t overlap_ns;

    result_span(a->result, &begin_a, &end_a);
    result_span(b->result, &begin_b, &end_b);
    shorter_ns = end_a - begin_a < end_b - begin_b ? end_a - begin_a : end_b - begin_b;
    overlap_ns =
        (int64_t)((end_a < end_b ? end_a : end_b) - (begin_a > begin_b ? begin_a : begin_b));
    if ((double)overlap_ns >= LEAST_OVERLAP * (double)shorter_ns)
        return;
    if (overlap_ns < 0)
        snprintf(line, sizeof line,
                 "%.250s and %.250s did not overlap in time: their rates do not add up", a->name,
                 b->name);
    else
        snprintf(line, sizeof line,
                 "%.250s and %.250s overlapped for %.0f %% of the shorter one: outside of that, "
                 "their rates do not add up",
                 a->name, b->name, 100 * (double)overlap_ns / (double)shorter_ns);
    say(context, line);
}

/* A search finds what the server sustains next to the loads of the others, which change meanwhile.
 */
static void say_if_one_searched(const struct recordings *all, mismatch_say *say, void *context)
{
    char line[LINE_BYTES];
    size_t i = 0;

    while (i < all->n && !result_is_search(all->items[i].result))
        i++;
    if (i == all->n || all->n == 1)
        return;
    snprintf(
        line, sizeof line,
        "%.250s searched for a capacity (--find): the capacity of all runs together is unknown",
        all->items[i].name);
    say(context, line);
}

void mismatch_find(const struct recordings *all, mismatch_say *say, void *context)
{
    const struct recording *first = &all->items[0], *measured = first_measured(all);

    for (size_t i = 1; i < all->n; i++) {
        const struct recording *r = &all->items[i];

        compare_seed(all, i, say, context);
        if (first->result == NULL || r->result == NULL)
            continue;
        compare_settings(first, r, say, context);
        if (was_measured(r))
            compare_times(measured, r, say, context);
    }
    say_if_one_searched(all, say, context);
}
