/* SPDX-License-Identifier: MIT
 * client_tls: the connections of a worker that speak TLS: the handshake between connecting and
 * proving, and what stands between their bytes and the socket.  A worker without it has none of
 * this and pays one look at a pointer per call of send(2) and recv(2).  Used by its worker's thread
 * only. */
#ifndef TCPSCALER_CLIENT_WORKER_TLS_H
#define TCPSCALER_CLIENT_WORKER_TLS_H

#include "client/worker/conn.h"
#include "net/tls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client_worker;

struct client_tls {
    struct tls_worker shared;
    struct tls **conns;           /* of each of the worker's connections; NULL: none now */
    uint8_t *plain;               /* what a receive call brought */
    const char *version, *cipher; /* of the first handshake that came to its end; NULL: none */
};

/* Where TLS is asked for, makes cw->tls.  Returns 0 or -1 with errno. */
int client_tls_init(struct client_worker *cw);
void client_tls_free(struct client_worker *cw); /* after its connections have ended */

/* The connection is established: begins the handshake, SECURING.  It ends in client_conn_secured()
 * or, also when it takes longer than the connect timeout, in client_conn_close(). */
void client_tls_begin(struct client_conn *c, int fd);

/* Decrypts what the socket received, n bytes of `data`, and gives it to the connection.  `plain`
 * has room for n + TLS_RECORD_BYTES. */
void client_tls_receive(struct client_conn *c, const uint8_t *data, size_t n, uint8_t *plain,
                        uint64_t received_ns);

/* As client_conn_send(). */
int client_tls_send(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Releases what the connection has; with say_so the peer is told first. */
void client_tls_end(struct client_conn *c, int fd, bool say_so);

#endif
