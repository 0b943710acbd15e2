/* SPDX-License-Identifier: MIT
 * server_listeners: the listening sockets of tcpserver, all on one address.  Their users close
 * them.  Main thread. */
#ifndef TCPSCALER_SERVER_LISTENERS_H
#define TCPSCALER_SERVER_LISTENERS_H

#include "net/sock.h"
#include "server/opts.h"

struct server_listeners {
    struct sock_address address; /* with the actual port */
    int *fds;
    uint32_t n;
};

/* The address of --bind and --port.  Returns 0, or -1 after logging an error. */
int server_listeners_resolve(struct sock_address *a, const struct server_opts *o);

/* Opens n >= 1 sockets according to --bind, --port and --backlog.  On a host without IPv6, "both
 * families" means IPv4.  Fails if another process listens on the port.  Returns 0, or -1 after
 * logging an error; the sockets opened by then stay open. */
int server_listeners_open(struct server_listeners *l, const struct server_opts *o, uint32_t n);

/* Does not close the sockets. */
void server_listeners_free(struct server_listeners *l);

#endif
