/* SPDX-License-Identifier: MIT
 * ledger_values: the latencies as the facts have them, to be compared with the histograms. */
#ifndef TCPSCALER_SIM_LEDGER_VALUES_H
#define TCPSCALER_SIM_LEDGER_VALUES_H

#include "measure/hist.h"

#include <stddef.h>
#include <stdint.h>

void ledger_values_begin(void);

/* metric: one of every query's (client/worker/metric.h). */
void ledger_values_add(int metric, uint64_t value_ns);

uint64_t ledger_values_n(int metric);

/* Every bucket, the extremes, and the percentiles, of which `beyond` samples are slower than all.
 * Violated: the run ends. */
void ledger_values_check(int metric, const struct hist *h, uint64_t beyond);

/* A query of the warm-up or the measurement that was sent was due at this time. */
void ledger_values_add_due(uint64_t due_ns);

/* All these times, sorted, *n of them; NULL: they were too many to be kept. */
const uint64_t *ledger_values_due(size_t *n);

#endif
