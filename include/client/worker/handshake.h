/* SPDX-License-Identifier: MIT
 * client_handshake: the TLS handshake of a connection, from CLIENT_CONN_SECURING on.  If it fails
 * or takes longer than the connect timeout, the connection is closed.  Used by the worker's thread
 * only. */
#ifndef TCPSCALER_CLIENT_WORKER_HANDSHAKE_H
#define TCPSCALER_CLIENT_WORKER_HANDSHAKE_H

#include "client/worker/transport.h"
#include "net/tls.h"

#include <event2/event.h>
#include <stdbool.h>

/* Enters SECURING and sends the first step.  The handshake is timed from established_ns, when TCP
 * was connected.  `callback` is called when the socket is readable, and when the time is over. */
void client_handshake_begin(struct client_conn *c, int fd, uint64_t established_ns,
                            poller_callback *callback);

/* While SECURING: sends the next step.  `status`: what decrypting the received bytes returned.
 * Returns whether the handshake has finished; its time is then recorded.  The socket stays watched
 * with the callback of client_handshake_begin() until the caller watches it with another. */
bool client_handshake_step(struct client_conn *c, enum tls_status status);

/* At the end of the callback, with its `what`, if still SECURING: waits for the rest of the time,
 * or closes the connection if there is none. */
void client_handshake_wait(struct client_conn *c, short what);

/* Closes a connection on which TLS has failed, in the handshake or later. */
void client_handshake_failed(struct client_conn *c);

#endif
