/* SPDX-License-Identifier: MIT
 * ledger_values: the latencies as the facts have them, to be compared with the histograms. */
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

/* Every bucket, the extremes, and the percentiles, of which `beyond` samples are slower than all.
 * Violated: the run ends. */
void ledger_values_check(int metric, const struct hist *h, uint64_t beyond);

/* A query of class k, of the warm-up or the measurement, that was sent was due at this time. */
void ledger_values_add_due(uint32_t k, uint64_t due_ns);

/* All these times of the class, sorted, *n of them; NULL: they were too many to be kept. */
const uint64_t *ledger_values_due(uint32_t k, size_t *n);

#endif
