/* SPDX-License-Identifier: MIT
 * class_tally: the counts of one class of clients (--class), and the law that the counts of all
 * classes add up to those of the run.  Pure; one owner, readers as for tally. */
#ifndef TCPSCALER_MEASURE_CLASS_TALLY_H
#define TCPSCALER_MEASURE_CLASS_TALLY_H

#include "measure/tally.h"

#include <stddef.h>

struct class_tally {
    tally_count attempted, connected, secured, proven; /* as in struct tally */
    tally_count ended;                                 /* their outcome is known ... */
    tally_count refused;                               /* ... and is that nothing listens */
    struct tally_queries queries[TALLY_N_CLASSES];
};

/* Offset of a count of connections, for functions that add to it. */
#define CLASS_TALLY_OF(count) offsetof(struct class_tally, count)

/* Its response times, to be compared with the counts. */
struct class_values {
    uint64_t count, beyond;
};

/* Adds every count of `from`. */
void class_tally_merge(struct class_tally *into, const struct class_tally *from);

/* Checks the sums at the end of a run without pushed messages: of each class, connections attempted
 * = ended, and the laws of queries and response times of tally_check(); over all n classes, each
 * count is that of the tally.  Returns NULL, or the law broken first. */
const char *class_tally_check(const struct class_tally *classes, const struct class_values *values,
                              size_t n, const struct tally *t);

#endif
