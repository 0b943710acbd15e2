/* SPDX-License-Identifier: MIT
 * server_metrics: tcpserver's counters as OpenMetrics.  No libevent. */
#ifndef TCPSCALER_SERVER_METRICS_H
#define TCPSCALER_SERVER_METRICS_H

#include "measure/openmetrics.h"
#include "server/report.h"

/* Prints all metrics of a snapshot. */
void server_metrics(struct openmetrics *m, const struct server_result *r);

#endif
