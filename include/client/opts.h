/* SPDX-License-Identifier: MIT
 * client_opts: the command line of tcpclient. */
#ifndef TCPSCALER_CLIENT_OPTS_H
#define TCPSCALER_CLIENT_OPTS_H

#include "client/opts_table.h"

/* Fills *opts from the command line and checks everything that needs no system call: combinations,
 * ranges, syntax of the host.  Returns like options_parse(). */
enum options_result client_opts_parse(struct client_opts *opts, int argc, char **argv, FILE *out,
                                      char *error);

/* Returns the total queries per second of --rate, --interval or the classes; 0: none was given. */
double client_opts_rate_qps(const struct client_opts *opts);

#endif
