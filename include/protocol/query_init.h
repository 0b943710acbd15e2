/* SPDX-License-Identifier: MIT
 * query_init: creates the queries of a protocol. */
#ifndef TCPSCALER_PROTOCOL_QUERY_INIT_H
#define TCPSCALER_PROTOCOL_QUERY_INIT_H

#include "protocol/query.h"

/* As in the option table, separated by '|'. */
#define QUERY_PROTOCOLS "dns|ping|echo"

/* In the same order. */
enum query_kind { QUERY_DNS, QUERY_PING, QUERY_ECHO, QUERY_N_KINDS };

/* Returns 0, or -1 with one line in error (QUERY_ERROR_BYTES): option, value and what is expected.
 * Free with query_free(). */
int query_init(struct query *q, enum query_kind kind, const struct query_ask *ask, char *error);

#endif
