/* SPDX-License-Identifier: MIT
 * client_opts_sweep: parses and checks --sweep. */
#ifndef TCPSCALER_CLIENT_OPTS_SWEEP_H
#define TCPSCALER_CLIENT_OPTS_SWEEP_H

#include "client/opts_table.h"

/* Fills in sweep_axis, n_sweep and sweep_values, and sets the options for the first value.  Returns
 * 0, or -1 with one line in error (OPTIONS_ERROR_BYTES). */
int client_opts_check_sweep(struct client_opts *o, char *error);

/* "connections", "queries-per-conn", "size"; NULL without an axis. */
const char *client_opts_sweep_name(enum client_sweep_axis axis);

#endif
