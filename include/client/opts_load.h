/* SPDX-License-Identifier: MIT
 * client_opts_load: checks the options that say which queries are sent when, and sets those that
 * follow from others. */
#ifndef TCPSCALER_CLIENT_OPTS_LOAD_H
#define TCPSCALER_CLIENT_OPTS_LOAD_H

#include "client/opts_table.h"

/* Both return 0, or -1 with one line in error (OPTIONS_ERROR_BYTES). */

/* Refuses options that conflict with --protocol listen, which must be set. */
int client_opts_check_listen(struct client_opts *o, char *error);

/* Checks what --loop, the rate or schedule and the kind of query exclude and require. */
int client_opts_check_load(struct client_opts *o, char *error);

#endif
