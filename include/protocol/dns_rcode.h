/* SPDX-License-Identifier: MIT
 * dns_rcode: the names of response codes.  Pure. */
#ifndef TCPSCALER_PROTOCOL_DNS_RCODE_H
#define TCPSCALER_PROTOCOL_DNS_RCODE_H

#define DNS_RCODE_N 16u /* number of values in the header's four bits */

/* "NOERROR", "NXDOMAIN", ... as in the IANA registry "DNS RCODEs"; "RCODE12" where it has none. */
const char *dns_rcode_name(unsigned rcode);

#endif
