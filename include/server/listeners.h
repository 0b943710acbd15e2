/* SPDX-License-Identifier: MIT
 * server_listeners: the listening sockets of tcpserver, all on one address; who serves them closes
 * them.  Main thread. */
#ifndef TCPSCALER_SERVER_LISTENERS_H
#define TCPSCALER_SERVER_LISTENERS_H

#include "net/sock.h"
#include "server/opts.h"

struct server_listeners {
    struct sock_address address; /* with the port it got */
    int *fds;
    uint32_t n;
};

/* n of them, >= 1, where --bind, --port and --backlog say.  Where there is no IPv6, both
 * families are IPv4.  Returns 0; or -1 having said why. */
int server_listeners_open(struct server_listeners *l, const struct server_opts *o, uint32_t n);

/* Not the sockets. */
void server_listeners_free(struct server_listeners *l);

#endif
