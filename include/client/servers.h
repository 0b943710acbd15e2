/* SPDX-License-Identifier: MIT
 * client_servers: the tcpservers of --server-control, such as those behind a load balancer, with
 * their counters before and after the run.  Main thread. */
#ifndef TCPSCALER_CLIENT_SERVERS_H
#define TCPSCALER_CLIENT_SERVERS_H

#include "client/server_stats.h"
#include "net/control_socket.h"

enum { CLIENT_SERVERS_MOST = 16, CLIENT_SERVERS_ADDRESS_BYTES = 128 };

/* Zeroed: none. */
struct client_servers {
    unsigned n;
    char addresses[CLIENT_SERVERS_MOST][CLIENT_SERVERS_ADDRESS_BYTES];
    struct server_stats before[CLIENT_SERVERS_MOST], after[CLIENT_SERVERS_MOST];
};

/* Reads the addresses, separated by commas.  Returns 0, or -1 with one line in error
 * (CONTROL_SOCKET_ERROR_BYTES). */
int client_servers_parse(struct client_servers *s, const char *list, char *error);

/* Reads the counters before the first connection.  wait_ms: see control_client_ask().  Returns 0,
 * or -1 with one line in error (CONTROL_SOCKET_ERROR_BYTES) if a server does not answer, or has two
 * of the addresses. */
int client_servers_read_before(struct client_servers *s, const struct control_token *token,
                               int wait_ms, char *error);

/* Reads the counters while the last connections are open.  The figures of a server that does not
 * answer, soon if a signal has asked to end, are unknown, after one line on stderr. */
void client_servers_read_after(struct client_servers *s, const struct control_token *token);

/* What server i < n counted during the run. */
struct server_stats client_servers_stats(const struct client_servers *s, unsigned i);

/* The sums over all servers; unknown if the counts of one are.  Overflows and drops are counted per
 * host, so they are only known if there is a single server: several may share a host. */
struct server_stats client_servers_sum(const struct client_servers *s);

#endif
