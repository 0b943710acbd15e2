/* SPDX-License-Identifier: MIT
 * dns_keepalive: finds the edns-tcp-keepalive option (RFC 7828) in DNS answers that arrive in
 * pieces.  Pure.
 *
 * Goes through the message byte by byte: header, questions, records, and the options of the OPT
 * record (RFC 6891) in the additional section.  Needs no buffer: its state is all the memory it
 * uses. */
#ifndef TCPSCALER_PROTOCOL_DNS_KEEPALIVE_H
#define TCPSCALER_PROTOCOL_DNS_KEEPALIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNS_KEEPALIVE_OPTION  11u
#define DNS_KEEPALIVE_UNIT_NS 100000000ull /* of the option's TIMEOUT */

enum dns_keepalive_found {
    DNS_KEEPALIVE_NONE,     /* no option, or not an answer (QR is 0) */
    DNS_KEEPALIVE_TIMEOUT,  /* the option with a TIMEOUT */
    DNS_KEEPALIVE_MALFORMED /* the message or its options cannot be parsed, or TIMEOUT is missing */
};

/* All zero at the start of a message. */
struct dns_keepalive {
    uint8_t state;         /* what the next byte belongs to */
    uint8_t n_field;       /* bytes of that field read so far */
    uint8_t found;         /* enum dns_keepalive_found */
    bool in_record;        /* of a record, else of a question */
    uint16_t word;         /* the last two bytes */
    uint16_t n_questions;  /* left, with the current one */
    uint16_t n_additional; /* records of the additional section */
    uint16_t type;         /* of the current record */
    uint16_t option;       /* code of the current option */
    uint16_t n_skip;       /* bytes to skip */
    uint16_t n_options;    /* bytes of the options left */
    uint16_t timeout;      /* with DNS_KEEPALIVE_TIMEOUT: in units of 100 ms */
    uint32_t n_records;    /* left, with the current one */
};

/* Reads the next bytes of a message, which begins with its length of two bytes (RFC 7766). */
void dns_keepalive_read(struct dns_keepalive *k, const uint8_t *data, size_t n_bytes);

/* The message is complete.  Returns what was found; k->timeout stays valid until the next message's
 * first byte. */
enum dns_keepalive_found dns_keepalive_end(struct dns_keepalive *k);

#endif
