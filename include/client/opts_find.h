/* SPDX-License-Identifier: MIT
 * client_opts_find: checks the options of a capacity search, and parses their values. */
#ifndef TCPSCALER_CLIENT_OPTS_FIND_H
#define TCPSCALER_CLIENT_OPTS_FIND_H

#include "client/opts_table.h"

/* Refuses what a search excludes; call it before the other checks.  Returns 0, or -1 with one line
 * in error (OPTIONS_ERROR_BYTES). */
int client_opts_check_find_conflicts(const struct client_opts *o, char *error);

/* Call it after checking the options of the load, and before checking those of the connections,
 * some of which --find sets.  Returns 0, or -1 with one line in error (OPTIONS_ERROR_BYTES). */
int client_opts_check_find(struct client_opts *o, char *error);

/* Returns the option that sets the most connections at a time, for messages: "connections", or the
 * one that the search allows instead. */
const char *client_opts_limit_option(const struct client_opts *o);

#endif
