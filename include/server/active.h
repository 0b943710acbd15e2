/* SPDX-License-Identifier: MIT
 * server_active: the number of open connections in all workers, and its limit
 * (--max-connections).  Any thread. */
#ifndef TCPSCALER_SERVER_ACTIVE_H
#define TCPSCALER_SERVER_ACTIVE_H

#include "server/config.h"

#include <stdint.h>

/* Counts a connection that is about to be opened.  Returns the number of connections including this
 * one; 0: the limit is reached, and it is not counted. */
uint64_t server_active_enter(struct server_config *config);

/* Records the result of server_active_enter() as the peak if it is one: the connection is open. */
void server_active_note_peak(struct server_config *config, uint64_t n);

/* The connection has ended, or was not opened. */
void server_active_leave(struct server_config *config);

#endif
