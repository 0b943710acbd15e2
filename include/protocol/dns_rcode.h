/* SPDX-License-Identifier: MIT
 * dns_rcode: the names of response codes (RFC 1035, 4.1.1).  Pure.
 *
 * The upper 8 bits that a code may have in an OPT record (RFC 6891, 6.1.3) are not read: servers
 * set them only in answers to EDNS versions above 0 (BADVERS) and cookies (BADCOOKIE, RFC 7873),
 * which the queries do not have. */
#ifndef TCPSCALER_PROTOCOL_DNS_RCODE_H
#define TCPSCALER_PROTOCOL_DNS_RCODE_H

#define DNS_RCODE_N 16u /* number of values in the header's four bits */

/* "NOERROR", "NXDOMAIN", ... as in the IANA registry "DNS RCODEs"; "RCODE12" where it has none. */
const char *dns_rcode_name(unsigned rcode);

#endif
