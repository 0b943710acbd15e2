/* SPDX-License-Identifier: MIT
 * inet_sockets: lists the TCP or UDP sockets of this network namespace with sock_diag(7): unlike
 * /proc/net/tcp it filters by state and port in the kernel.  Any thread. */
#ifndef TCPSCALER_HOST_WATCH_INET_SOCKETS_H
#define TCPSCALER_HOST_WATCH_INET_SOCKETS_H

#include <linux/inet_diag.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inet_sockets {
    bool udp;                     /* otherwise TCP */
    uint8_t family;               /* AF_INET, AF_INET6, or AF_UNSPEC: both */
    uint32_t states;              /* a bit each: 1 << TCP_LISTEN */
    uint16_t own_port, peer_port; /* 0: any */
    uint8_t extensions;           /* attributes wanted: 1 << (INET_DIAG_SKMEMINFO - 1) */
};

/* Called for each socket; n_bytes includes its attributes. */
typedef void inet_sockets_on_socket(void *context, const struct inet_diag_msg *socket,
                                    size_t n_bytes);

/* Returns 0, or -1 with errno if the kernel does not answer; some may have been listed then. */
int inet_sockets_each(const struct inet_sockets *which, inet_sockets_on_socket *on_socket,
                      void *context);

#endif
