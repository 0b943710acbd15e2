/* SPDX-License-Identifier: MIT
 * dns_message: the bytes of a DNS query over TCP (RFC 1035, RFC 7766): two bytes of length, a
 * header with RD=1, one question of class IN and, with EDNS, an OPT record (RFC 6891) that may ask
 * for the server's idle timeout (RFC 7828) and be padded (RFC 7830).  Pure. */
#ifndef TCPSCALER_PROTOCOL_DNS_MESSAGE_H
#define TCPSCALER_PROTOCOL_DNS_MESSAGE_H

#include "protocol/dns_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNS_MESSAGE_UDP_BYTES     1232u /* default announced size */
#define DNS_MESSAGE_PADDING_BYTES 4096u /* the largest block */

/* The longest query: length, header, question, OPT record with two options, padding. */
#define DNS_MESSAGE_BYTES (2 + 12 + DNS_NAME_BYTES + 4 + 11 + 4 + 4 + DNS_MESSAGE_PADDING_BYTES)

struct dns_question {
    uint8_t name[DNS_NAME_BYTES]; /* wire format */
    uint16_t n_name;
    uint16_t type;
};

/* All zero: no EDNS. */
struct dns_edns {
    uint16_t udp_bytes;     /* the size announced; 0: DNS_MESSAGE_UDP_BYTES */
    uint16_t padding_bytes; /* the message becomes a multiple of this block (RFC 8467, 4.1); 0: no
                               padding */
    bool dnssec;            /* DO */
    bool keepalive;         /* an empty edns-tcp-keepalive option */
};

/* Writes the query with id 0.  Returns its bytes, those of the length included. */
size_t dns_message_encode(uint8_t out[DNS_MESSAGE_BYTES], const struct dns_question *question,
                          const struct dns_edns *edns);

#endif
