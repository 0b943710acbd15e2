/* SPDX-License-Identifier: MIT
 * proxy_header: the header of the PROXY protocol, versions 1 and 2: the first bytes of a connection
 * tell the receiver which client a proxy speaks for.
 *
 * Pure.  Source: "The PROXY protocol, Versions 1 & 2", Willy Tarreau, haproxy's
 * doc/proxy-protocol.txt, sections 2.1 and 2.2.  A version 1 header is a line of at most 107 bytes:
 *
 *   PROXY TCP4|TCP6 SOURCE DESTINATION SOURCE_PORT DESTINATION_PORT \r\n, or PROXY UNKNOWN ... \r\n
 *
 * Version 2 is binary, big-endian:
 *
 *    0  12 bytes  signature
 *   12  u8        2 (version) in the upper half; 0 (LOCAL) or 1 (PROXY) in the lower one
 *   13  u8        address family and transport: 0x11 TCP over IPv4, 0x21 TCP over IPv6, ...
 *   14  u16       length of the rest: addresses, ports, then type-length-value triples
 *
 * The triples are skipped, a CRC32C among them is not verified. */
#ifndef TCPSCALER_PROTOCOL_PROXY_HEADER_H
#define TCPSCALER_PROTOCOL_PROXY_HEADER_H

#include "protocol/query.h"

#include <stddef.h>
#include <stdint.h>

#define PROXY_HEADER_V1_MAX_BYTES 107u
/* The format allows 65,551.  nginx has the same limit (NGX_PROXY_PROTOCOL_MAX_HEADER). */
#define PROXY_HEADER_V2_MAX_BYTES 4096u

enum proxy_header_version { PROXY_HEADER_NONE, PROXY_HEADER_V1, PROXY_HEADER_V2 };

/* Addresses are in network byte order, 4 bytes of them used with AF_INET; ports in host byte order.
 */
struct proxy_header {
    enum proxy_header_version version;
    /* AF_INET or AF_INET6.  AF_UNSPEC: it names no client (UNKNOWN, LOCAL, UDP, Unix sockets), and
     * the addresses of the connection itself count. */
    int family;
    uint8_t source[16], destination[16];
    uint16_t source_port, destination_port;
};

/* Returns the number of bytes written, at most PROXY_HEADER_V1_MAX_BYTES.  AF_UNSPEC is written as
 * UNKNOWN or LOCAL. */
size_t proxy_header_write(const struct proxy_header *h, uint8_t out[PROXY_HEADER_V1_MAX_BYTES]);

/* A header that has been received in part; all zero at the start. */
struct proxy_header_stream {
    uint16_t n_bytes;                         /* received */
    uint8_t bytes[PROXY_HEADER_V1_MAX_BYTES]; /* the first of them */
};

enum proxy_header_event {
    PROXY_HEADER_MORE,     /* all input consumed; the header continues */
    PROXY_HEADER_COMPLETE, /* *h is set; what is left of the input follows the header */
    PROXY_HEADER_MALFORMED /* not a header: the connection must be dropped */
};

/* Consumes input up to the end of the header.  The result does not depend on how the input is cut.
 * Rejects input at the first byte that cannot belong to a header; what a version 1 line says is
 * checked once it is complete.  After COMPLETE and MALFORMED the stream may not be used again. */
enum proxy_header_event proxy_header_next(struct proxy_header_stream *stream,
                                          struct query_input *in, struct proxy_header *h);

#endif
