/* SPDX-License-Identifier: MIT
 * laws_classes: what holds for the figures of each class of clients, and for when their queries are
 * due.  Without classes, all clients are one. */
#ifndef TCPSCALER_SIM_LAWS_CLASSES_H
#define TCPSCALER_SIM_LAWS_CLASSES_H

#include <stdint.h>

struct client_config;
struct client_result;

/* A law that is broken ends the process. */
void laws_check_classes(const struct client_config *config, const struct client_result *r);

/* One sequence of arrivals for all workers, of each class: each arrival is scheduled once, and what
 * was sent was due. */
void laws_check_arrivals(const struct client_config *config, const struct client_result *r,
                         uint64_t begin_ns);

#endif
