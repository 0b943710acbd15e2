/* SPDX-License-Identifier: MIT
 * laws_classes: checks the figures of each class of clients, and when their queries are due.
 * Without classes, all clients are one class. */
#ifndef TCPSCALER_SIM_LAWS_CLASSES_H
#define TCPSCALER_SIM_LAWS_CLASSES_H

#include <stdint.h>

struct client_config;
struct client_result;

/* A law that is broken ends the process. */
void laws_check_classes(const struct client_config *config, const struct client_result *r);

/* Each class has one sequence of arrivals for all workers: each arrival is scheduled once, and only
 * queries that were due were sent. */
void laws_check_arrivals(const struct client_config *config, const struct client_result *r,
                         uint64_t begin_ns);

#endif
