/* SPDX-License-Identifier: MIT
 * strays: words about stray answers, which belong to no query in flight.  Pure. */
#ifndef TCPSCALER_MEASURE_STRAYS_H
#define TCPSCALER_MEASURE_STRAYS_H

#include <stdbool.h>

/* Stray answers are not told apart by the kind of query that they belong to.  Returns what their
 * counts include besides measured queries, such as " (warm-up included)", or "".
 * has_warmup: there was one.  proofs_timed_out: of queries that prove connections. */
const char *strays_include(bool has_warmup, bool proofs_timed_out);

#endif
