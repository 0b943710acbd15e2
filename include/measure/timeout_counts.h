/* SPDX-License-Identifier: MIT
 * timeout_counts: how often each TIMEOUT of edns-tcp-keepalive (RFC 7828) was received.  Pure; one
 * writer.  512 KiB of address space, of which only touched pages are resident. */
#ifndef TCPSCALER_MEASURE_TIMEOUT_COUNTS_H
#define TCPSCALER_MEASURE_TIMEOUT_COUNTS_H

#include <stdint.h>

struct timeout_counts {
    uint64_t *counts; /* by value, in units of 100 ms; NULL: nothing is counted */
};

/* Values in units of 100 ms. */
struct timeout_summary {
    uint64_t n; /* values; 0: the others are not set */
    uint16_t min, max;
    uint16_t most_common; /* of several, the lowest */
    uint64_t n_most_common;
};

/* Returns 0, or -1 if out of memory. */
int timeout_counts_init(struct timeout_counts *t);
void timeout_counts_free(struct timeout_counts *t); /* also if all zero */

static inline void timeout_counts_add(struct timeout_counts *t, uint16_t value)
{
    t->counts[value]++;
}

/* No effect if nothing is counted in one of them. */
void timeout_counts_merge(struct timeout_counts *into, const struct timeout_counts *from);

struct timeout_summary timeout_counts_summary(const struct timeout_counts *t);

#endif
