/* SPDX-License-Identifier: MIT
 * client_metrics: prints a running tcpclient's figures as OpenMetrics.  No libevent. */
#ifndef TCPSCALER_CLIENT_METRICS_H
#define TCPSCALER_CLIENT_METRICS_H

#include "client/result.h"
#include "client/worker/config.h"
#include "measure/openmetrics.h"

/* Prints all metrics of a snapshot.  Those of datagrams only with UDP, those of messages only with
 * --protocol listen; likewise those of retransmits, of connections on demand, of TLS, of PROXY
 * headers and of classes. */
void client_metrics(struct openmetrics *m, const struct client_config *config,
                    const struct client_result *r);

#endif
