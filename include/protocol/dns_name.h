/* SPDX-License-Identifier: MIT
 * dns_name: a domain name from its presentation to its wire format (RFC 1035, 5.1 and 3.1).  Pure.
 */
#ifndef TCPSCALER_PROTOCOL_DNS_NAME_H
#define TCPSCALER_PROTOCOL_DNS_NAME_H

#include <stddef.h>
#include <stdint.h>

#define DNS_NAME_BYTES 255u /* the longest name, its final zero included */

/* What dns_name_parse() takes, for messages. */
#define DNS_NAME_ACCEPTED "labels of 1 to 63 bytes, 255 in all, other bytes as \\DDD"

/* "www.example.com" or "www.example.com.", the root ".": `n` characters, not terminated.  In a
 * label \DDD stands for the byte of this decimal value, \X for X itself; blanks and control
 * characters have to be written so.  Returns the bytes written to out, or 0: it is not a name. */
size_t dns_name_parse(const char *text, size_t n, uint8_t out[DNS_NAME_BYTES]);

#endif
