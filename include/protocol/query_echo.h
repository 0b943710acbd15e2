/* SPDX-License-Identifier: MIT
 * query_echo: messages of a fixed size that must come back unchanged.  An answer with a different
 * byte is malformed. */
#ifndef TCPSCALER_PROTOCOL_QUERY_ECHO_H
#define TCPSCALER_PROTOCOL_QUERY_ECHO_H

#include "protocol/query.h"

extern const struct query_protocol query_echo_protocol;

#endif
