/* SPDX-License-Identifier: MIT
 * dns_type: the type of a question, by its mnemonic or as TYPE65 (RFC 3597).  Pure. */
#ifndef TCPSCALER_PROTOCOL_DNS_TYPE_H
#define TCPSCALER_PROTOCOL_DNS_TYPE_H

#include <stddef.h>
#include <stdint.h>

/* What dns_type_parse() takes, for messages. */
#define DNS_TYPE_ACCEPTED "A, AAAA, NS, MX, TXT, ... or TYPE0 to TYPE65535"

/* "AAAA", "aaaa", "TYPE28": `n` characters, not terminated.  The mnemonics are those of the IANA
 * registry "Resource Record (RR) TYPEs" that one query asks for and one message answers, so neither
 * OPT nor transfers of zones.  Returns 0, or -1: it is none. */
int dns_type_parse(const char *text, size_t n, uint16_t *type);

#endif
