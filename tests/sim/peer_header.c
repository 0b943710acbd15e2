/* SPDX-License-Identifier: MIT
 * peer_header: see peer_header.h. */
#include "peer_header.h"

#include "client/worker/config.h"
#include "memory.h"
#include "protocol/proxy_header.h"
#include "setup.h"
#include "tcp.h"
#include "violation.h"
#include "workload/identity.h"

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

static const struct client_config *config;
static bool *is_open; /* by connection number: one speaks for this client */
struct peer_header_figures peer_header_figures;

void peer_header_begin(const struct client_config *of_workers)
{
    config = of_workers;
    peer_header_figures = (struct peer_header_figures){0};
    is_open = memory_own(is_open, config->n_connections * sizeof *is_open);
    memset(is_open, 0, config->n_connections * sizeof *is_open);
}

/* The connection that has this identity. */
static uint32_t connection_of(const struct proxy_header *h)
{
    const uint32_t n = (uint32_t)config->identities.n_addresses;

    return (h->source_port - IDENTITY_FIRST_PORT) * n + h->source[3];
}

/* It names one of the clients, for whom no other connection speaks now, and the target. */
static void check(struct tcp *t, const struct proxy_header *h)
{
    static const uint8_t network[] = {SETUP_IDENTITIES_NETWORK};
    const struct srcplan_tuple target = sock_tuple(&config->target);
    const uint32_t connection = connection_of(h);

    LAW(h->version == config->proxy && h->family == AF_INET &&
            memcmp(h->source, network, sizeof network) == 0 && connection < config->n_connections,
        "fd %d: PROXY header of a wrong client", t->fd);
    LAW(memcmp(h->destination, target.address.bytes, 4) == 0 && h->destination_port == t->peer_port,
        "fd %d: PROXY header with a wrong destination", t->fd);
    LAW(!is_open[connection], "fd %d: client %u is connected already", t->fd, connection);
    is_open[connection] = true;
    t->peer.identity = connection + 1;
}

size_t peer_header_take(uint32_t i, const uint8_t **data, size_t n_bytes)
{
    struct tcp *t = tcp_at(i);
    struct query_input in = {*data, n_bytes};
    struct proxy_header h;
    enum proxy_header_event event;

    if (config->proxy == PROXY_HEADER_NONE || t->peer.identity != 0)
        return n_bytes;
    event = proxy_header_next(&t->peer.header, &in, &h);
    LAW(event != PROXY_HEADER_MALFORMED, "fd %d: malformed PROXY header", t->fd);
    peer_header_figures.n_bytes += n_bytes - in.n_bytes;
    *data = in.data;
    if (event == PROXY_HEADER_COMPLETE) {
        peer_header_figures.n_complete++;
        check(t, &h);
    }
    return in.n_bytes;
}

void peer_header_on_close(uint32_t i)
{
    const struct tcp *t = tcp_at(i);

    if (t->peer.identity != 0)
        is_open[t->peer.identity - 1] = false;
}
