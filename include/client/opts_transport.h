/* SPDX-License-Identifier: MIT
 * client_opts_transport: checks the options against --transport. */
#ifndef TCPSCALER_CLIENT_OPTS_TRANSPORT_H
#define TCPSCALER_CLIENT_OPTS_TRANSPORT_H

#include "client/opts_table.h"

/* Refuses what needs TCP.  Call it before the other checks, and again once the classes are known,
 * which may use TLS.  Returns 0, or -1 with one line in error (OPTIONS_ERROR_BYTES). */
int client_opts_check_transport(const struct client_opts *o, char *error);

#endif
