/* SPDX-License-Identifier: MIT
 * client_ports: which ports of the server, of those that classes have (--class), refused
 * connections, never answered them, or lost them all.  Pure. */
#ifndef TCPSCALER_CLIENT_PORTS_H
#define TCPSCALER_CLIENT_PORTS_H

#include "client/worker/config.h"
#include "measure/class_tally.h"

#define CLIENT_PORTS_BYTES (SOCK_TEXT_BYTES + 24)

/* Texts such as "192.0.2.1:4243 and 2 other ports"; "": none. */
struct client_ports {
    char refusing[CLIENT_PORTS_BYTES]; /* any connection */
    bool refusing_serve;               /* connections to each of these live */
    char silent[CLIENT_PORTS_BYTES];   /* asked and never answered, while all others that were
                                        * established were */
    char lost[CLIENT_PORTS_BYTES];     /* answered, and no connection is left, while each that was
                                        * established to all others is */
};

/* tallies, live: of the classes, at the end of the run. */
struct client_ports client_ports_find(const struct client_config *config,
                                      const struct class_tally *tallies, const uint64_t *live);

#endif
