/* SPDX-License-Identifier: MIT
 * query_dns: DNS over TCP (RFC 1035, RFC 7766): two bytes of length, then the message.  Sends one
 * question (protocol/dns_message.h), or the questions of a file in order.  An answer is matched by
 * its id only: an error answer may be a bare header, and tcpserver's echo returns the query itself,
 * so neither QR nor the question is checked. A length below the 12 bytes of a header is malformed.
 * The answer's content is counted, not judged; its response code is that of the header, since no
 * query requests an extended one (RFC 6891, 6.1.3). */
#ifndef TCPSCALER_PROTOCOL_QUERY_DNS_H
#define TCPSCALER_PROTOCOL_QUERY_DNS_H

#include "protocol/query.h"

extern const struct query_protocol query_dns_protocol;

#endif
