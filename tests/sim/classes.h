/* SPDX-License-Identifier: MIT
 * classes: which class of clients a connection belongs to, as the network sees it: by the port that
 * it is connected to. The product's claims about its classes are compared with that. */
#ifndef TCPSCALER_SIM_CLASSES_H
#define TCPSCALER_SIM_CLASSES_H

#include "protocol/query.h"
#include "tcp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client_config;

/* config: borrowed. */
void classes_begin(const struct client_config *config);

/* 1 without classes. */
uint32_t classes_n(void);

/* Whether each class has a port of its own. */
bool classes_have_ports(void);

/* Returns the class of a connection, which must have called connect(2); 0 without classes. */
uint32_t classes_of(const struct tcp *t);

/* Its queries, how many of them it carries (0: any number), and whether one proves it. */
const struct query *classes_query(const struct tcp *t);
uint32_t classes_queries_per_conn(const struct tcp *t);
bool classes_prove(const struct tcp *t);

/* Bytes of the longest query of all. */
size_t classes_longest_query(void);

#endif
