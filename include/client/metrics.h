/* SPDX-License-Identifier: MIT
 * client_metrics: prints a running tcpclient's figures as OpenMetrics.  No libevent. */
#ifndef TCPSCALER_CLIENT_METRICS_H
#define TCPSCALER_CLIENT_METRICS_H

#include "client/result.h"
#include "client/worker/config.h"
#include "measure/openmetrics.h"

/* Prints all metrics of a snapshot that apply to the run: those of datagrams only with UDP, those
 * of messages only with --protocol listen, and so on for retransmits, connections on demand, TLS,
 * PROXY headers and classes. */
void client_metrics(struct openmetrics *m, const struct client_config *config,
                    const struct client_result *r);

#endif
