/* SPDX-License-Identifier: MIT
 * dns_type: parses a query type, by its mnemonic or as TYPE65 (RFC 3597).  Pure. */
#ifndef TCPSCALER_PROTOCOL_DNS_TYPE_H
#define TCPSCALER_PROTOCOL_DNS_TYPE_H

#include <stddef.h>
#include <stdint.h>

/* Describes, for messages, what dns_type_parse() expects. */
#define DNS_TYPE_ACCEPTED "A, AAAA, NS, ... or TYPE0 to TYPE65535, no zone transfers"

/* "AAAA", "aaaa", "TYPE28": `n` characters, not terminated.  Knows the mnemonics of the IANA
 * registry "Resource Record (RR) TYPEs" that one query can request and one message can answer:
 * neither OPT nor zone transfers.  By number, OPT (TYPE41) is allowed, zone transfers are not.
 * Returns 0, or -1 if it is not such a type. */
int dns_type_parse(const char *text, size_t n, uint16_t *type);

#endif
