/* SPDX-License-Identifier: MIT
 * backoff: how long to wait before a retry: doubled with each failure in a row up to a maximum,
 * minus a random part of up to half, so that connections that failed together do not come back
 * together (M. Brooker, "Exponential Backoff And Jitter", 2015: "equal jitter").  Pure. */
#ifndef TCPSCALER_WORKLOAD_BACKOFF_H
#define TCPSCALER_WORKLOAD_BACKOFF_H

#include "base/rng.h"

#include <stdint.h>

#define BACKOFF_ERROR_BYTES 160

struct backoff {
    uint64_t first_ns, most_ns; /* first_ns <= most_ns */
};

/* "100ms-10s": the wait after the first failure, above 0, and the longest, at most 24 h.  Returns
 * 0, or -1 with one line in error (BACKOFF_ERROR_BYTES) that says what is expected; *b may have
 * changed. */
int backoff_parse(struct backoff *b, const char *text, char *error);

/* After n_failures in a row, n_failures >= 1: uniform over the upper half of
 * min(most, first * 2^(n_failures - 1)). */
uint64_t backoff_wait_ns(const struct backoff *b, uint32_t n_failures, struct rng *rng);

#endif
