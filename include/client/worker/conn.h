/* SPDX-License-Identifier: MIT
 * client_conn: the states of a connection of tcpclient, from its start to its outcome.
 *
 * A closed connection is queued; its worker takes it from the queue when the callback that closed
 * it is over, and only then may another one follow in its slot: closing never opens.  Used by its
 * worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_CONN_H
#define TCPSCALER_CLIENT_WORKER_CONN_H

#include "client/worker/transport.h"
#include "measure/outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A free connection becomes CONNECTING; it has no socket yet. */
void client_conn_begin(struct client_conn *c, struct client_transport *t);

/* PROVING becomes LIVE, proven or (where no proof is asked for) not; HALF_OPEN becomes LIVE. */
void client_conn_become_usable(struct client_conn *c);

/* It has answered: PROVING or HALF_OPEN becomes LIVE. */
void client_conn_mark_proven(struct client_conn *c);

/* PROVING: its proof timed out. */
void client_conn_mark_half_open(struct client_conn *c);

/* A step of opening it - connect, TLS's handshake, its proof - took so long. */
void client_conn_opening_took(struct client_conn *c, uint64_t ns);

/* One of its queries (no proof) timed out; an answer came, to whichever query. */
void client_conn_unheard(struct client_conn *c);
void client_conn_heard(struct client_conn *c);

/* LIVE: it takes no more queries and closes, finished, after the last outcome of those it has. */
void client_conn_finish(struct client_conn *c);

/* FINISHING: closes if none of its queries is left. */
void client_conn_close_if_finished(struct client_conn *c);

/* Writes queries.  Returns how many bytes are taken: those of the socket, or with TLS, which cannot
 * take back what it has sealed, all.  Or -1, with the errno of a broken connection: the caller
 * accounts for what it sent, then calls client_events_broken(). */
ssize_t client_conn_write(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Sends bytes; what the socket does not take now is kept.  Returns 0 or an errno, as above. */
int client_conn_send(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Says why, on stderr: the first of its kind over all workers; the others are in the table of
 * outcomes.  text: NULL: nothing. */
void client_conn_log(const struct client_conn *c, struct outcome outcome, const char *text);

/* The one way out: its queries get their outcomes, the socket is closed, the outcome is counted,
 * the connection is queued.  Idempotent, safe in every state but NEW.  error: errno to show for the
 * first of its kind, or 0. */
void client_conn_close(struct client_conn *c, struct outcome outcome, int error);

/* Of a connection that got no socket: closes it. */
void client_conn_fail(struct client_conn *c, struct outcome outcome, int error);

/* Takes the connection that ended first out of the queue; NULL: it is empty. */
struct client_conn *client_conn_take_ended(struct client_transport *t, struct outcome *outcome);

#endif
