/* SPDX-License-Identifier: MIT
 * server_io: what a connection receives and sends: echoes, answers to pings, TLS, and the bytes
 * that its socket does not accept.
 *
 * Received bytes are sent back from the worker's buffer at once; an idle connection has no buffer.
 * Only bytes that the socket does not accept are kept (at most SERVER_BUFFER_BYTES, with TLS one
 * record more), and the connection is not read until they are sent: a peer that never reads costs
 * 64 KiB and does not affect others.  Reading needs no system call to re-arm.  Used by the worker's
 * thread only. */
#ifndef TCPSCALER_SERVER_IO_H
#define TCPSCALER_SERVER_IO_H

#include "server/conn.h"

#include <stddef.h>
#include <stdint.h>

/* Waits for bytes to read.  The connection's event must not be pending.  Returns 0 or an errno. */
int server_io_watch(struct server_conn *c, int fd);

/* Serves bytes that were received and counted.  May close the connection. */
void server_io_take(struct server_conn *c, const uint8_t *data, size_t n_bytes);

/* Sends messages of equal size, stored back to back.  Returns how many of them the socket accepted,
 * counting one sent in part: its rest is kept, and until that is sent the result is 0.  May close
 * the connection. */
uint32_t server_io_send(struct server_conn *c, const uint8_t *messages, uint32_t n_messages,
                        uint32_t message_bytes);

/* Sends bytes, of a connection for which none are kept.  Those that the socket does not accept are
 * kept until it does.  May close the connection. */
void server_io_send_all(struct server_conn *c, const uint8_t *data, size_t n_bytes);

#endif
