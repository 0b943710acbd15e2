/* SPDX-License-Identifier: MIT
 * client_io: writes bytes to a connection's socket and keeps those that it does not accept.  Below
 * TLS.  Used by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_IO_H
#define TCPSCALER_CLIENT_WORKER_IO_H

#include "client/worker/transport.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Makes one call of send(2) with these flags.  Before the first bytes of a connection it sends its
 * PROXY header, if it has one, and keeps the rest of a header that the socket does not accept.
 * Returns the number of bytes of `data` accepted, 0 if the socket has no room, or -1 with errno if
 * the connection is broken.  Counts the header only. */
ssize_t client_io_put(struct client_conn *c, const uint8_t *data, size_t n_bytes, int flags);

/* Writes what the socket accepts.  Returns the number of bytes, or -1 with errno if the connection
 * is broken. */
ssize_t client_io_send(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Keeps bytes to send before all others as soon as the socket has room, then calls ops->room.
 * n_bytes 0: only calls ops->room.  Returns 0 or an errno. */
int client_io_keep(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Writes bytes and keeps those that the socket does not accept.  Returns 0 or an errno. */
int client_io_transmit(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Returns the size of c->backlog: of the kept bytes, and of those written since it was empty. */
size_t client_io_backlog_bytes(const struct client_conn *c);

/* Writes the kept bytes; c->backlog is NULL once all are written.  Returns 0 or an errno. */
int client_io_send_kept(struct client_conn *c);

/* Discards the kept bytes. */
void client_io_discard(struct client_conn *c);

/* While a connection awaits room, its events are edge-triggered.  Reports data and room that are
 * still there once more.  Returns 0 or an errno. */
int client_io_tell_again(struct client_conn *c);

/* Stops waiting for room.  Returns 0 or an errno. */
int client_io_stop_waiting(struct client_conn *c);

/* Counts bytes written to the socket, without those of a PROXY header. */
void client_io_count_sent(struct client_conn *c, uint64_t n_bytes);

/* Counts bytes read from the socket. */
static inline void client_io_count_received(const struct client_conn *c, uint64_t n_bytes)
{
    struct client_record *record = client_conn_record(c);

    tally_add(&c->transport->figures->tally.bytes_received, n_bytes);
    if (record != NULL)
        record->bytes_received += n_bytes;
}

#endif
