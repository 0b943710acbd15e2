/* SPDX-License-Identifier: MIT
 * client_conn: the states of a tcpclient connection, from connect to outcome.
 *
 * A closed connection is queued.  The worker takes it from the queue after the callback that closed
 * it has returned, and only then may a new connection use its slot: closing never opens.  Used by
 * the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_CONN_H
#define TCPSCALER_CLIENT_WORKER_CONN_H

#include "client/worker/transport.h"
#include "measure/outcome.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Moves a free connection to CONNECTING.  It has no socket yet. */
void client_conn_begin(struct client_conn *c, struct client_transport *t);

/* Moves PROVING to LIVE, whether proven or not (without --prove), and HALF_OPEN to LIVE. */
void client_conn_become_usable(struct client_conn *c);

/* The connection has received an answer: moves PROVING or HALF_OPEN to LIVE. */
void client_conn_mark_proven(struct client_conn *c);

/* The proof timed out: moves PROVING to HALF_OPEN; with config->reconnect, closes the connection
 * instead. */
void client_conn_mark_half_open(struct client_conn *c);

/* Reports the duration of a step of opening: connect, TLS handshake or proof. */
void client_conn_opening_took(struct client_conn *c, uint64_t ns);

/* _unheard: a query other than the proof, sent at sent_ns, has timed out at now_ns.  _heard: an
 * answer to any query arrived. */
void client_conn_unheard(struct client_conn *c, uint64_t sent_ns, uint64_t now_ns);
void client_conn_heard(struct client_conn *c);

/* A LIVE connection takes no more queries.  It closes as finished once each of its queries has an
 * outcome. */
void client_conn_finish(struct client_conn *c);

/* Closes a FINISHING connection that has no queries left.  On demand, only an edns-tcp-keepalive of
 * 0 makes a connection finish.  That of a listener closes only its half: what the server has sent
 * remains to be read (client/worker/subscribe.h). */
void client_conn_close_if_finished(struct client_conn *c);

/* Writes queries.  Returns the number of bytes taken: what the socket accepted, with UDP those of
 * whole queries, or, with TLS, which cannot undo encryption, all of them.  On a broken connection
 * returns -1 with errno; the caller then accounts for what it sent and calls
 * client_events_broken(). */
ssize_t client_conn_write(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Sends bytes and keeps those that the socket does not accept.  Returns 0 or an errno, as above. */
int client_conn_send(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Logs an outcome, the first of its kind over all workers only; the table of outcomes counts the
 * others.  Logs nothing if text is NULL; with config->quiet, only REASON_OTHER. */
void client_conn_log(const struct client_conn *c, struct outcome outcome, const char *text);

/* Closes the connection; there is no other way.  Ends its queries, closes the socket, counts the
 * outcome and queues the connection.  Idempotent, safe in every state but NEW.  error: errno to log
 * with the first such outcome, or 0. */
void client_conn_close(struct client_conn *c, struct outcome outcome, int error);

/* Closes a connection that has no socket because connecting failed. */
void client_conn_fail(struct client_conn *c, struct outcome outcome, int error);

/* Dequeues the connection that ended first.  Returns NULL if the queue is empty. */
struct client_conn *client_conn_take_ended(struct client_transport *t, struct outcome *outcome);

#endif
