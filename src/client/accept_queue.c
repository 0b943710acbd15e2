/* SPDX-License-Identifier: MIT
 * client_accept_queue: see client/accept_queue.h. */
#include "client/accept_queue.h"

#include "client/destinations.h"
#include "host/counters.h"
#include "host/watch/port_sockets.h"

static uint64_t drops_of_server(const struct client_config *config)
{
    const struct sock_address *servers[CLIENT_CLASS_MOST];
    const unsigned n = client_destinations(config, servers);
    struct port_listeners l;
    uint64_t drops = 0;

    for (unsigned i = 0; i < n; i++) {
        if (port_listeners_read(&l, sock_port(servers[i])) != 0 || l.n == 0)
            return HOST_COUNTERS_UNKNOWN;
        drops += l.drops;
    }
    return drops;
}

void client_accept_queue_read(struct client_accept_queue *q, const struct client_config *config)
{
    struct host_counters now;

    *q = (struct client_accept_queue){HOST_COUNTERS_UNKNOWN, HOST_COUNTERS_UNKNOWN};
    if (!config->target_is_here)
        return;
    host_counters_read(&now);
    q->overflows = now.listen_overflows;
    q->drops = drops_of_server(config);
}

/* Queues of other programs may have overflowed, too: each overflow of its own is also a drop. */
uint64_t client_accept_queue_overflows(const struct client_accept_queue *before,
                                       const struct client_accept_queue *after)
{
    const uint64_t of_all = host_counters_delta(after->overflows, before->overflows);
    const uint64_t drops = host_counters_delta(after->drops, before->drops);

    return of_all != HOST_COUNTERS_UNKNOWN && drops < of_all ? drops : of_all;
}
