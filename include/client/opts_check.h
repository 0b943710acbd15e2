/* SPDX-License-Identifier: MIT
 * client_opts_check: what the files that check the options of tcpclient share.  For them only:
 * includers have an `error` of OPTIONS_ERROR_BYTES. */
#ifndef TCPSCALER_CLIENT_OPTS_CHECK_H
#define TCPSCALER_CLIENT_OPTS_CHECK_H

#include "client/opts_table.h"
#include "client/worker/config.h"

#include <stdio.h>

/* -1, with one line in `error`. */
#define REFUSE(...) (snprintf(error, OPTIONS_ERROR_BYTES, __VA_ARGS__), -1)
#define N(table)    (sizeof(table) / sizeof *(table))

/* Returns whether the option with this long name was given. */
static inline bool was_given(const char *name)
{
    return options_was_given(client_opts_table(), name);
}

/* --prove (enum client_yes_no) if it is not given: no if the first query proves a connection, or if
 * a lost datagram would leave it unproven. */
static inline int default_prove(const struct client_opts *o)
{
    return o->queries_per_conn > 0 || o->on_demand || o->transport == CLIENT_UDP ? CLIENT_NO
                                                                                 : CLIENT_YES;
}

#endif
