/* SPDX-License-Identifier: MIT
 * losses: see measure/losses.h. */
#include "measure/losses.h"

#include <stdio.h>

#define SUDDEN_NS          UNITS_NS_PER_S
#define SUDDEN_NS_FOR_EACH 20000ull
#define LEAST_TIMEOUT_NS   500000000ull

int losses_init(struct losses *l)
{
    *l = (struct losses){.first_ns = UINT64_MAX};
    if (hist_init(&l->idle_us) != 0)
        return -1;
    if (hist_init(&l->answers) == 0)
        return 0;
    hist_free(&l->idle_us);
    return -1;
}

void losses_free(struct losses *l)
{
    hist_free(&l->idle_us);
    hist_free(&l->answers);
}

void losses_add(struct losses *l, uint64_t now_ns, uint64_t idle_ns)
{
    if (now_ns < l->first_ns)
        l->first_ns = now_ns;
    if (now_ns > l->last_ns)
        l->last_ns = now_ns;
    hist_record(&l->idle_us, idle_ns / UNITS_NS_PER_US);
}

void losses_add_answers(struct losses *l, uint64_t n_answers)
{
    hist_record(&l->answers, n_answers);
}

void losses_merge(struct losses *into, const struct losses *from)
{
    if (from->first_ns < into->first_ns)
        into->first_ns = from->first_ns;
    if (from->last_ns > into->last_ns)
        into->last_ns = from->last_ns;
    hist_merge(&into->idle_us, &from->idle_us);
    hist_merge(&into->answers, &from->answers);
}

/* A histogram counts 0 as 1. */
static uint64_t percentile(const struct losses *l, uint32_t num, uint32_t den)
{
    const uint64_t idle_us = hist_percentile(&l->idle_us, num, den);

    return idle_us > 1 ? idle_us * UNITS_NS_PER_US : 0;
}

uint64_t losses_least_idle_ns(const struct losses *l)
{
    return l->idle_us.count > 0 ? l->idle_us.min_ns * UNITS_NS_PER_US : 0;
}

uint64_t losses_median_idle_ns(const struct losses *l)
{
    return percentile(l, 1, 2);
}

uint64_t losses_idle_of_most_ns(const struct losses *l)
{
    return percentile(l, 5, 100);
}

bool losses_are_sudden(const struct losses *l)
{
    const uint64_t each_ns = l->idle_us.count * SUDDEN_NS_FOR_EACH;

    return l->idle_us.count > 0 &&
           l->last_ns - l->first_ns <= (each_ns > SUDDEN_NS ? each_ns : SUDDEN_NS);
}

static bool is_timeout(const struct losses *l, uint64_t least_ns)
{
    return least_ns >= LEAST_TIMEOUT_NS && least_ns >= losses_median_idle_ns(l) / 5 * 4;
}

bool losses_are_idle_timeouts(const struct losses *l)
{
    return is_timeout(l, losses_idle_of_most_ns(l));
}

bool losses_have_exceptions(const struct losses *l)
{
    return losses_are_idle_timeouts(l) && !is_timeout(l, losses_least_idle_ns(l));
}

uint64_t losses_answers_of_each(const struct losses *l)
{
    const uint64_t n = l->idle_us.count, median = hist_percentile(&l->answers, 1, 2);

    return n > 1 && losses_median_idle_ns(l) < LEAST_TIMEOUT_NS &&
                   100 * l->answers.counts[hist_index(median)] >= 95 * n
               ? median
               : 0;
}

const char *losses_format_idle(char text[LOSSES_TEXT_BYTES], const struct losses *l,
                               uint64_t least_ns)
{
    const uint64_t median_ns = losses_median_idle_ns(l);
    const bool has_least = least_ns >= UNITS_NS_PER_MS;
    const uint64_t most_ns = l->idle_us.max_ns * UNITS_NS_PER_US;
    char limit[UNITS_TEXT_BYTES], median[UNITS_TEXT_BYTES] = "below 1 ms";

    if (most_ns < UNITS_NS_PER_MS) {
        snprintf(text, LOSSES_TEXT_BYTES, "idle for less than 1 ms");
        return text;
    }
    units_format_duration(limit, has_least ? least_ns : most_ns);
    if (median_ns >= UNITS_NS_PER_MS)
        units_format_duration(median, median_ns);
    snprintf(text, LOSSES_TEXT_BYTES, "idle for at %s %s, median %s", has_least ? "least" : "most",
             limit, median);
    return text;
}

const char *losses_format_answers(char text[LOSSES_TEXT_BYTES], const struct losses *l)
{
    const uint64_t n = losses_answers_of_each(l);
    char count[UNITS_TEXT_BYTES];

    text[0] = '\0';
    if (n > 0)
        snprintf(text, LOSSES_TEXT_BYTES, "after %s %s each", units_format_count(count, n),
                 units_noun(n, "query", "queries"));
    return text;
}
