/* SPDX-License-Identifier: MIT
 * query_echo: messages of a fixed size that have to come back byte for byte.  A byte that differs
 * is malformed. */
#ifndef TCPSCALER_PROTOCOL_QUERY_ECHO_H
#define TCPSCALER_PROTOCOL_QUERY_ECHO_H

#include "protocol/query.h"

extern const struct query_protocol query_echo_protocol;

#endif
