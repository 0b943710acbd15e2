/* SPDX-License-Identifier: MIT
 * setup: the configuration of tcpclient's workers for a scenario. */
#ifndef TCPSCALER_SIM_SETUP_H
#define TCPSCALER_SIM_SETUP_H

#include "client/worker/config.h"
#include "scenario.h"

/* The clients that PROXY headers name: SETUP_IDENTITIES addresses of this network. */
#define SETUP_IDENTITIES_NETWORK 10, 7, 0
enum { SETUP_IDENTITIES = 7 };

/* Sets everything except what client_run() sets. */
void setup_make(struct client_config *c, const struct scenario *s);
void setup_free(struct client_config *c);

/* The peer's address, with this port. */
void setup_target(struct sock_address *target, uint16_t port);

/* Whether its connections are UDP sockets. */
bool setup_is_udp(const struct scenario *s);

/* Whether each query opens a connection. */
bool setup_has_conn_per_query(const struct scenario *s);

/* Returns the number of classes of clients; 0: none. */
uint32_t setup_n_classes(const struct scenario *s);

#endif
