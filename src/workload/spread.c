/* SPDX-License-Identifier: MIT
 * spread: see workload/spread.h. */
#include "workload/spread.h"

#include "workload/pacer.h"

#include <stdbool.h>

/* How many connections are to be divided, and among how many workers: those that do not keep what
 * they have. */
struct division {
    uint32_t n, n_workers;
};

/* Whether a worker keeps what it has, because its share would be smaller when connections are
 * added, or larger when they are removed. */
static bool keeps(struct division d, uint32_t has, bool grows)
{
    const uint32_t least = d.n / d.n_workers, most = least + (d.n % d.n_workers > 0);

    return grows ? has > least : has < most;
}

/* Returns what is left for the other workers if some keep theirs according to `before`. */
static struct division rest_of(struct division all, struct division before, const uint32_t *has,
                               bool grows)
{
    struct division rest = all;

    for (uint32_t w = 0; w < all.n_workers; w++)
        if (keeps(before, has[w], grows)) {
            rest.n -= has[w];
            rest.n_workers--;
        }
    return rest;
}

void spread_connections(uint32_t n, uint32_t n_workers, const uint32_t *has, uint32_t *wanted)
{
    const struct division all = {n, n_workers};
    struct division d = all, before;
    uint64_t n_has = 0;
    uint32_t i = 0;
    bool grows;

    for (uint32_t w = 0; w < n_workers; w++)
        n_has += has[w];
    grows = n >= n_has;
    do { /* each time, more workers keep theirs, but never all */
        before = d;
        d = rest_of(all, before, has, grows);
    } while (d.n_workers != before.n_workers);
    for (uint32_t w = 0; w < n_workers; w++)
        wanted[w] = keeps(d, has[w], grows) ? has[w] : pacer_connections_of(d.n, d.n_workers, i++);
}
