/* SPDX-License-Identifier: MIT
 * dns_name: converts a domain name from presentation to wire format (RFC 1035, 5.1 and 3.1).  Pure.
 */
#ifndef TCPSCALER_PROTOCOL_DNS_NAME_H
#define TCPSCALER_PROTOCOL_DNS_NAME_H

#include <stddef.h>
#include <stdint.h>

#define DNS_NAME_BYTES 255u /* longest name, including its final zero */

/* Describes, for messages, what dns_name_parse() expects. */
#define DNS_NAME_ACCEPTED "labels of 1 to 63 bytes, 255 bytes in total, special bytes as \\DDD"

/* "www.example.com" or "www.example.com.", the root ".": `n` characters, not terminated.  In a
 * label \DDD is the byte with this decimal value, \X is X itself; blanks and control characters
 * must be escaped.  Returns the number of bytes written to out, or 0 if it is not a name. */
size_t dns_name_parse(const char *text, size_t n, uint8_t out[DNS_NAME_BYTES]);

#endif
