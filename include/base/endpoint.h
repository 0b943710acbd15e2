/* SPDX-License-Identifier: MIT
 * endpoint: the text form of a host and port.  Pure; sock resolves names. */
#ifndef TCPSCALER_BASE_ENDPOINT_H
#define TCPSCALER_BASE_ENDPOINT_H

#include <stdint.h>

#define ENDPOINT_HOST_BYTES 256

struct endpoint {
    char host[ENDPOINT_HOST_BYTES]; /* name or address, without brackets */
    uint16_t port;                  /* 1..65535, or 0 when the text has none */
};

/* "example.com", "10.0.0.1:53", "::1" (more than one colon: an IPv6 address without a port),
 * "[::1]:53", "[::1]".  Returns 0, or -1 when the host is empty or too long, a bracket is not
 * closed, or the port is not 1..65535.  *e is written only on success. */
int endpoint_parse(const char *text, struct endpoint *e);

/* A port number alone: 1..65535, or 0 too when zero_allowed (a server: "any free port"). */
int endpoint_parse_port(const char *text, int zero_allowed, uint16_t *port);

#endif
