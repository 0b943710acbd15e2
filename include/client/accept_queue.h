/* SPDX-License-Identifier: MIT
 * client_accept_queue: how often the accept queues of a server on this host overflow.  Any thread.
 */
#ifndef TCPSCALER_CLIENT_ACCEPT_QUEUE_H
#define TCPSCALER_CLIENT_ACCEPT_QUEUE_H

#include <stdint.h>

struct client_config;

struct client_accept_queue {
    /* Of all listeners of this network namespace; HOST_COUNTERS_UNKNOWN: the server is elsewhere.
     */
    uint64_t overflows;
    /* What the server's listeners have dropped for this and other reasons; HOST_COUNTERS_UNKNOWN:
     * it is elsewhere, or behind an address that is translated. */
    uint64_t drops;
};

void client_accept_queue_read(struct client_accept_queue *q, const struct client_config *config);

/* Returns the overflows between two readings, at most those of the server's own queues if these
 * are known; or HOST_COUNTERS_UNKNOWN. */
uint64_t client_accept_queue_overflows(const struct client_accept_queue *before,
                                       const struct client_accept_queue *after);

#endif
