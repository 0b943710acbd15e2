/* SPDX-License-Identifier: MIT
 * server_stats: what tcpserver counted, as its control port tells it.  Main thread. */
#ifndef TCPSCALER_CLIENT_SERVER_STATS_H
#define TCPSCALER_CLIENT_SERVER_STATS_H

#include "net/control_socket.h"

#include <stdbool.h>
#include <stdint.h>

/* A figure that the server does not know is UINT64_MAX. */
struct server_stats {
    bool is_known; /* the rest is */
    uint64_t accepted, refused, closed;
    uint64_t active; /* now; all others only ever grow */
    uint64_t bytes_received, bytes_sent;
    uint64_t accept_pauses, back_pressure_pauses;
    uint64_t listen_overflows, listen_drops; /* of its host */
};

/* wait_ms as of control_socket_ask().  Returns 0, or -1 with one line in error
 * (CONTROL_SOCKET_ERROR_BYTES) when the address does not answer or is not a tcpserver's. */
int server_stats_read(struct server_stats *s, const char *address,
                      const struct control_token *token, int wait_ms, char *error);

/* From an earlier reading to a later one: every count, and the later one's active. */
struct server_stats server_stats_between(const struct server_stats *earlier,
                                         const struct server_stats *later);

#endif
