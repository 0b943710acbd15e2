/* SPDX-License-Identifier: MIT
 * client_opts_classes: what the settings of all classes (client/opts_class.h) amount to: rates, and
 * whether they use TLS.  For options that were checked; works without classes, too, unless k is
 * one.  Pure. */
#ifndef TCPSCALER_CLIENT_OPTS_CLASSES_H
#define TCPSCALER_CLIENT_OPTS_CLASSES_H

#include "client/opts_table.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns the queries per second of class k, or of all classes; 0: none, or by a schedule. */
double client_opts_class_rate_qps(const struct client_opts *o, unsigned k);
double client_opts_classes_rate_qps(const struct client_opts *o);

/* Returns whether the run, or one of its classes, uses TLS. */
bool client_opts_uses_tls(const struct client_opts *o);

/* Returns whether all do. */
bool client_opts_all_use_tls(const struct client_opts *o);

/* Returns the part of the queries of the run that class k sends, 0 to 1.  Of a schedule, or of
 * rates to be requested: its share of the connections. */
double client_opts_class_part(const struct client_opts *o, unsigned k);

/* Returns the queries per connection; 0: no limit.  With classes: how many queries the run sends
 * per connection replaced, rounded up; UINT32_MAX if the classes with a limit send none. */
uint32_t client_opts_queries_per_conn(const struct client_opts *o);

#endif
