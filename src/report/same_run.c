/* SPDX-License-Identifier: MIT
 * same_run: see report/same_run.h. */
#include "report/same_run.h"

#include "report/result.h"
#include "report/result_figures.h"

#include <stdlib.h>
#include <string.h>

struct identity {
    size_t recording;
    const char *started;
    uint64_t seed, count, min_ns, max_ns;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare(const struct identity *a, const struct identity *b)
{
    int order = strcmp(a->started, b->started);

    if (order == 0)
        order = compare_numbers(a->seed, b->seed);
    if (order == 0)
        order = compare_numbers(a->count, b->count);
    if (order == 0)
        order = compare_numbers(a->min_ns, b->min_ns);
    return order != 0 ? order : compare_numbers(a->max_ns, b->max_ns);
}

static int in_order(const void *a, const void *b)
{
    const struct identity *x = a, *y = b;
    const int order = compare(x, y);

    return order != 0 ? order : compare_numbers(x->recording, y->recording);
}

/* Of a result or, if `is_instance`, of an element of its "instances".  Returns how many were taken.
 */
static size_t take(struct identity *identity, size_t recording, const struct json_object *run,
                   bool is_instance)
{
    struct latency l;

    identity->recording = recording;
    identity->started = result_string(run, "started");
    if (identity->started == NULL || !result_u64(run, "seed", &identity->seed) ||
        !(is_instance ? result_instance_response(run, &l) : result_latency(run, "response", &l)) ||
        l.count == 0)
        return 0;
    identity->count = l.count;
    identity->min_ns = l.min_ns;
    identity->max_ns = l.max_ns;
    return 1;
}

/* identities: with room for all.  Returns their number. */
static size_t take_all(struct identity *identities, const struct recordings *all)
{
    size_t n = 0;

    for (size_t i = 0; i < all->n; i++) {
        const struct json_object *result = all->items[i].result, *instance;

        n += take(&identities[n], i, result, false);
        for (size_t k = 0; (instance = result_element(result, "instances", k)) != NULL; k++)
            n += take(&identities[n], i, instance, true);
    }
    return n;
}

int same_run_find(const struct recordings *all, size_t *a, size_t *b)
{
    struct identity *identities;
    size_t n = 1;
    int found = 0;

    for (size_t i = 0; i < all->n; i++)
        n += 1 + result_n_instances(all->items[i].result);
    identities = calloc(n, sizeof *identities);
    if (identities == NULL)
        return -1;
    n = take_all(identities, all);
    qsort(identities, n, sizeof *identities, in_order);
    for (size_t i = 1; i < n && found == 0; i++) {
        *a = identities[i - 1].recording;
        *b = identities[i].recording;
        found = *a != *b && compare(&identities[i - 1], &identities[i]) == 0;
    }
    free(identities);
    return found;
}
