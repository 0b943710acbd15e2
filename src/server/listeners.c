/* SPDX-License-Identifier: MIT
 * server_listeners: see server/listeners.h. */
#include "server/listeners.h"

#include "base/endpoint.h"
#include "base/log.h"
#include "net/sock_resolve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int server_listeners_resolve(struct sock_address *a, const struct server_opts *o)
{
    struct endpoint e = {.port = 0};
    char error[SOCK_ERROR_BYTES];

    if (endpoint_parse(o->bind, &e) != 0 || e.port != 0)
        return log_error(
            "--bind: invalid value '%s': expected an IPv4 or IPv6 address or a host name", o->bind);
    if (sock_resolve(&e, AF_UNSPEC, a, error) != 0)
        return log_error("--bind: %s", error);
    if (sock_lacks_interface(a))
        return log_error("--bind: invalid value '%.100s': expected a link-local address with its "
                         "interface, such as fe80::1%%eth0",
                         o->bind);
    sock_set_port(a, o->port);
    return 0;
}

static int listen_once(struct server_listeners *l, const struct server_opts *o, bool reuse_port,
                       int *fd)
{
    const struct sock_listen_options options = {
        .backlog = (int)o->backlog,
        .sndbuf_bytes = (int)o->sndbuf_bytes,
        .rcvbuf_bytes = (int)o->rcvbuf_bytes,
        .reuse_port = reuse_port,
    };

    *fd = sock_listen(&l->address, &options);
    return *fd < 0 ? -1 : 0;
}

/* With SO_REUSEPORT from the beginning, it would share the connections of another process, even of
 * one that starts at the same moment. */
static int listen_alone(struct server_listeners *l, const struct server_opts *o, bool reuse_port)
{
    if (listen_once(l, o, false, &l->fds[0]) != 0)
        return -1;
    return reuse_port ? sock_share_port(l->fds[0]) : 0;
}

/* On a host without IPv6, "both families" means IPv4. */
static int listen_first(struct server_listeners *l, const struct server_opts *o, bool reuse_port)
{
    const struct endpoint any4 = {.host = "0.0.0.0"};
    char error[SOCK_ERROR_BYTES];

    if (listen_alone(l, o, reuse_port) == 0)
        return 0;
    if (o->bind_given || (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL) ||
        sock_resolve(&any4, AF_INET, &l->address, error) != 0)
        return -1;
    sock_set_port(&l->address, o->port);
    return listen_alone(l, o, reuse_port);
}

/* Port 0: the kernel selects one. */
static const char *hint(int error, uint16_t port)
{
    if (error == EACCES)
        return " (see net.ipv4.ip_unprivileged_port_start)";
    return error == EADDRINUSE && port == 0
               ? " (all ports of net.ipv4.ip_local_port_range are in use)"
               : "";
}

/* Returns -1 after one line on stderr. */
static int refuse(const struct server_listeners *l)
{
    const int error = errno;
    char text[SOCK_TEXT_BYTES];

    return log_error("cannot listen on %s: %s%s", sock_format(text, &l->address), strerror(error),
                     hint(error, sock_port(&l->address)));
}

int server_listeners_open(struct server_listeners *l, const struct server_opts *o, uint32_t n)
{
    l->n = n;
    l->fds = calloc(n, sizeof *l->fds);
    if (l->fds == NULL)
        return log_error("out of memory");
    if (server_listeners_resolve(&l->address, o) != 0)
        return -1;
    if (listen_first(l, o, n > 1) != 0 || sock_local_address(l->fds[0], &l->address) != 0)
        return refuse(l);
    for (uint32_t i = 1; i < n; i++)
        if (listen_once(l, o, true, &l->fds[i]) != 0)
            return refuse(l);
    return 0;
}

void server_listeners_free(struct server_listeners *l)
{
    free(l->fds);
}
