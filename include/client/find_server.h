/* SPDX-License-Identifier: MIT
 * client_find_server: whether the server of a capacity search is still there (client/find.h).  Main
 * thread only. */
#ifndef TCPSCALER_CLIENT_FIND_SERVER_H
#define TCPSCALER_CLIENT_FIND_SERVER_H

#include "client/find_state.h"

#include <stdbool.h>
#include <stdint.h>

/* Notes whether a connection has become usable, or an answer has come, since the last call.  Call
 * it repeatedly, with f->elapsed_ns up to date. */
void client_find_server_look(struct client_find *f);

/* Whether the server is gone or hangs: since since_ns of the search, no connection has become
 * usable and no answer has come, not because of this host; and none is live, or no query of the
 * trial that was taken last had an answer.  A server that has never served is not gone. */
bool client_find_server_is_gone(const struct client_find *f, uint64_t since_ns);

/* Whether no connection is left, and for a second the server has refused new ones and answered
 * nothing: it is gone if it does not come back. */
bool client_find_server_refuses(const struct client_find *f);

/* Ends the search: the trials during which the server went, and those that followed, are void. */
void client_find_server_end(struct client_find *f);

#endif
