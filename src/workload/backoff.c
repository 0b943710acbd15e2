/* SPDX-License-Identifier: MIT
 * backoff: see workload/backoff.h. */
#include "workload/backoff.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

#define MOST_NS (24ull * 3600 * UNITS_NS_PER_S)

int backoff_parse(struct backoff *b, const char *text, char *error)
{
    const char *dash = strchr(text, '-');
    char first[32];

    if (dash != NULL && (size_t)(dash - text) < sizeof first) {
        memcpy(first, text, (size_t)(dash - text));
        first[dash - text] = '\0';
        if (units_parse_duration(first, &b->first_ns) == 0 &&
            units_parse_duration(dash + 1, &b->most_ns) == 0 && b->first_ns > 0 &&
            b->first_ns <= b->most_ns && b->most_ns <= MOST_NS)
            return 0;
    }
    snprintf(error, BACKOFF_ERROR_BYTES,
             "invalid value '%.40s': expected FIRST-MAX, two times such as 100ms-10s, at most 24h",
             text);
    return -1;
}

uint64_t backoff_wait_ns(const struct backoff *b, uint32_t n_failures, struct rng *rng)
{
    uint64_t whole_ns = b->first_ns;

    for (; n_failures > 1 && whole_ns < b->most_ns; n_failures--)
        whole_ns *= 2;
    if (whole_ns > b->most_ns)
        whole_ns = b->most_ns;
    return whole_ns - (uint64_t)(rng_uniform(rng) * 0.5 * (double)whole_ns);
}
