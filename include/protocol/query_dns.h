/* SPDX-License-Identifier: MIT
 * query_dns: DNS over TCP (RFC 1035, RFC 7766): two bytes of length, then the message.
 *
 * What is asked is one question (protocol/dns_message.h), or those of a file one after the other.
 * An answer is matched by its id alone: an error answer may be a bare header, and tcpserver's echo
 * returns the query itself, so neither QR nor the question is looked at.  A length below the 12
 * bytes of a header is malformed.  What the answer says of itself is counted, not judged; a
 * response code is that of the header: nothing that is sent asks for an extended one (RFC
 * 6891, 6.1.3). */
#ifndef TCPSCALER_PROTOCOL_QUERY_DNS_H
#define TCPSCALER_PROTOCOL_QUERY_DNS_H

#include "protocol/query.h"

extern const struct query_protocol query_dns_protocol;

#endif
