/* SPDX-License-Identifier: MIT
 * client_io: writes bytes to the socket of a connection and keeps what it does not take.  Below
 * TLS. Used by its worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_IO_H
#define TCPSCALER_CLIENT_WORKER_IO_H

#include "client/worker/transport.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Writes what the socket takes now.  Returns how many bytes, or -1 with errno when it is broken. */
ssize_t client_io_send(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Keeps bytes that are to follow before all others when the socket has room; then ops->room is
 * called.  n_bytes 0: only for that.  Returns 0 or an errno. */
int client_io_keep(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Writes bytes; what the socket does not take now is kept.  Returns 0 or an errno. */
int client_io_transmit(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Writes what is kept; c->backlog is NULL when all of it is written.  Returns 0 or an errno. */
int client_io_send_kept(struct client_conn *c);

/* Discards what is kept. */
void client_io_discard(struct client_conn *c);

/* Stops waiting for room.  Returns 0 or an errno. */
int client_io_stop_waiting(struct client_conn *c);

/* Counts bytes written to the socket. */
void client_io_count_sent(struct client_conn *c, uint64_t n_bytes);

#endif
