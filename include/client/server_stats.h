/* SPDX-License-Identifier: MIT
 * server_stats: tcpserver's counters, read from its control port.  Main thread. */
#ifndef TCPSCALER_CLIENT_SERVER_STATS_H
#define TCPSCALER_CLIENT_SERVER_STATS_H

#include "net/control_socket.h"

#include <stdbool.h>
#include <stdint.h>

/* Values unknown to the server are UINT64_MAX. */
struct server_stats {
    bool is_known;  /* the other fields are valid */
    bool restarted; /* of a difference: the counts are those since the restart */
    uint64_t started_epoch_ns;
    uint64_t accepted, refused, closed;
    uint64_t active; /* current; all others only grow */
    uint64_t bytes_received, bytes_sent;
    uint64_t accept_pauses, back_pressure_pauses;
    uint64_t listen_overflows, listen_drops; /* of the server's host */
};

/* wait_ms: see control_client_ask().  Returns 0; or -1 with one line in error
 * (CONTROL_SOCKET_ERROR_BYTES) if there is no answer or it is not a tcpserver's. */
int server_stats_read(struct server_stats *s, const char *address,
                      const struct control_token *token, int wait_ms, char *error);

/* Returns whether two readings are of one process: they have the time of its start, to the
 * nanosecond. */
bool server_stats_same_server(const struct server_stats *a, const struct server_stats *b);

/* Returns the difference between two readings, with `active` of the later one.  If the server was
 * restarted in between, its counters began again, and the difference is the later reading. */
struct server_stats server_stats_between(const struct server_stats *earlier,
                                         const struct server_stats *later);

/* Returns the sum of two differences.  Overflows and drops are unknown: both servers may be on the
 * same host. */
struct server_stats server_stats_sum(const struct server_stats *a, const struct server_stats *b);

#endif
