/* SPDX-License-Identifier: MIT
 * client_opts_demand: checks the options of connections on demand. */
#ifndef TCPSCALER_CLIENT_OPTS_DEMAND_H
#define TCPSCALER_CLIENT_OPTS_DEMAND_H

#include "client/opts_table.h"

/* Call it before the other checks, because some of them set options that it refuses.  Returns 0, or
 * -1 with one line in error (OPTIONS_ERROR_BYTES). */
int client_opts_check_demand(const struct client_opts *o, char *error);

#endif
