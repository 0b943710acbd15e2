/* SPDX-License-Identifier: MIT
 * ledger_values: the latencies according to the facts, for comparison with the histograms. */
#ifndef TCPSCALER_SIM_LEDGER_VALUES_H
#define TCPSCALER_SIM_LEDGER_VALUES_H

#include "client/worker/metric.h"
#include "measure/hist.h"

#include <stddef.h>
#include <stdint.h>

/* Metrics of class k of clients. */
#define LEDGER_VALUES_RESPONSE(k) (CLIENT_N_QUERY_METRICS + 2 * (int)(k))
#define LEDGER_VALUES_SERVICE(k)  (CLIENT_N_QUERY_METRICS + 2 * (int)(k) + 1)

void ledger_values_begin(void);

/* metric: one of every query's (client/worker/metric.h), or one of these. */
void ledger_values_add(int metric, uint64_t value_ns);

/* Compares every bucket, the extremes and the percentiles; `beyond` samples are slower than all
 * others.  A difference ends the run. */
void ledger_values_check(int metric, const struct hist *h, uint64_t beyond);

/* Records when a query of class k that was sent (in the warm-up or the measurement) was due.
 */
void ledger_values_add_due(uint32_t k, uint64_t due_ns);

/* Returns all *n of these times of the class, sorted; NULL if there were too many to keep. */
const uint64_t *ledger_values_due(uint32_t k, size_t *n);

#endif
