/* SPDX-License-Identifier: MIT
 * client_metrics: the metrics of a run of tcpclient in progress.  No libevent. */
#ifndef TCPSCALER_CLIENT_METRICS_H
#define TCPSCALER_CLIENT_METRICS_H

#include "client/result.h"
#include "measure/openmetrics.h"

void client_metrics(struct openmetrics *m, const struct client_result *r);

#endif
