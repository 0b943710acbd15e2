/* SPDX-License-Identifier: MIT
 * client_destinations: the addresses that the connections of a run go to: one, or with classes
 * (client/worker/class.h) one for each port.  Pure except for client_destinations_accept(). */
#ifndef TCPSCALER_CLIENT_DESTINATIONS_H
#define TCPSCALER_CLIENT_DESTINATIONS_H

#include "client/worker/config.h"

#include <stdbool.h>

/* Lists them without duplicates, borrowed from config.  Returns their number, at least 1. */
unsigned client_destinations(const struct client_config *config,
                             const struct sock_address *servers[CLIENT_CLASS_MOST]);

/* Returns how many connections go to other destinations than this one. */
uint32_t client_destinations_n_elsewhere(const struct client_config *config,
                                         const struct sock_address *server);

/* Returns how many connections of classes to this one are live.  live: the number of each class. */
uint64_t client_destinations_live(const struct client_config *config, const uint64_t *live,
                                  const struct sock_address *server);

/* Returns whether one of those without live connections accepts one, within 1 s for each.  live: of
 * each class.  TCP only. */
bool client_destinations_accept(const struct client_config *config, const uint64_t *live);

#endif
