/* SPDX-License-Identifier: MIT
 * loopback_steps: addresses of this host. */
#ifndef TCPSCALER_TESTS_UNIT_LOOPBACK_STEPS_H
#define TCPSCALER_TESTS_UNIT_LOOPBACK_STEPS_H

#include "net/sock_address.h"

#include <netinet/in.h>

/* 127.0.0.1, with a port. */
static inline struct sock_address loopback(uint16_t port)
{
    struct sock_address a = {.length = sizeof(struct sockaddr_in)};
    struct sockaddr_in *in = (struct sockaddr_in *)&a.ss;

    in->sin_family = AF_INET;
    in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sock_set_port(&a, port);
    return a;
}

#endif
