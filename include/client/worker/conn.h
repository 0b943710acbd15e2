/* SPDX-License-Identifier: MIT
 * client_conn: one connection of tcpclient, from its socket to its outcome.
 *
 * One place in its worker's array, used again only for another life (client/worker/slots.h).  No
 * buffer inside: a half-received answer needs the query_stream alone, unsent bytes are kept only
 * while the socket is full.  Used by its worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_CONN_H
#define TCPSCALER_CLIENT_WORKER_CONN_H

#include "measure/outcome.h"
#include "protocol/query.h"
#include "workload/inflight.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct client_worker;
struct client_backlog;

/* In the order of life. */
enum client_conn_state {
    CLIENT_CONN_NEW,        /* no socket yet */
    CLIENT_CONN_CONNECTING, /* the handshake is under way */
    CLIENT_CONN_SECURING,   /* established here; the handshake of TLS is under way */
    CLIENT_CONN_PROVING,    /* established here; its proof is in flight */
    CLIENT_CONN_HALF_OPEN,  /* established here; its proof timed out; an answer may still come */
    CLIENT_CONN_LIVE,       /* takes queries */
    CLIENT_CONN_FINISHING,  /* takes no more; closes when each it was given has its outcome */
    CLIENT_CONN_ENDED       /* outcome counted, socket closed */
};

/* So many queries in a row without an answer: nothing is to be expected of the connection. */
enum { CLIENT_CONN_DEAF = 3 };

struct client_conn {
    struct event event;
    struct client_worker *worker;
    struct client_backlog *backlog; /* bytes the socket did not take; NULL: none */
    union {
        uint64_t connect_start_ns;  /* CONNECTING, SECURING: when that began */
        struct query_stream stream; /* afterwards */
    };
    struct inflight_list queries;
    uint8_t state; /* enum client_conn_state */
    bool in_turn : 1;
    bool in_loop : 1;      /* its next query stands in the closed loop */
    bool in_window : 1;    /* holds a place in the connect window */
    bool settled : 1;      /* it, or one before it in this place, has left that window */
    bool awaits_room : 1;  /* in its socket, for the backlog or for queries that wait */
    bool opens_slowly : 1; /* so slowly that TCP may have sent segments again meanwhile */
    bool timed_out : 1;    /* one of its queries has */
    uint8_t n_unheard : 2; /* queries that timed out since something came; CLIENT_CONN_DEAF: more */
    bool proven;           /* has answered at least once */
};

/* With libevent's own bookkeeping of about 45 bytes per fd an idle connection stays below the
 * promised 256 bytes of user memory. */
_Static_assert(sizeof(struct client_conn) <= 192, "memory per idle connection");

/* It takes queries. */
static inline bool client_conn_is_usable(const struct client_conn *c)
{
    return c->state == CLIENT_CONN_LIVE;
}

/* NEW or ENDED: opens the socket from the worker's next tuples and starts to connect.  Whatever
 * fails ends the connection with its outcome. */
void client_conn_open(struct client_conn *c);

/* Writes queries.  Returns how many bytes are taken: those of the socket, or with TLS, which cannot
 * take back what it has sealed, all.  Or -1, with the errno of a broken connection: the caller
 * accounts for what it sent, then calls client_conn_broken. */
ssize_t client_conn_write(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Keeps bytes that are to follow before all others, when the socket has room; client_send_waiting()
 * is called then.  n_bytes 0: only for that.  Returns 0 or an errno. */
int client_conn_keep(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* Sends bytes; what the socket does not take now is kept.  Returns 0 or an errno, as above. */
int client_conn_send(struct client_conn *c, const uint8_t *data, size_t n_bytes);

/* The same, past TLS: what the socket itself is to carry. */
int client_conn_transmit(struct client_conn *c, const uint8_t *data, size_t n_bytes);
void client_conn_count_sent(struct client_conn *c, uint64_t n_bytes);

/* Reads what stands in the socket, during TLS's handshake too. */
void client_conn_read(struct client_conn *c, int fd);

/* Takes the answers in bytes of its protocol. */
void client_conn_take_answers(struct client_conn *c, const uint8_t *data, size_t n_bytes,
                              uint64_t received_ns);

/* The handshake of TLS is over: SECURING becomes PROVING. */
void client_conn_secured(struct client_conn *c);

/* After a failed send: takes the answers that still stand in the socket, then closes. */
void client_conn_broken(struct client_conn *c, int error);

/* It has answered: PROVING or HALF_OPEN becomes LIVE. */
void client_conn_is_proven(struct client_conn *c);

/* PROVING: its proof timed out. */
void client_conn_is_half_open(struct client_conn *c);

/* A step of opening it - connect, TLS's handshake, its proof - took so long. */
void client_conn_opening_took(struct client_conn *c, uint64_t ns);

/* One of its queries (no proof) timed out; an answer came, to whichever query. */
void client_conn_unheard(struct client_conn *c);
void client_conn_heard(struct client_conn *c);

/* LIVE: it takes no more queries and closes, finished, after the last outcome of those it has. */
void client_conn_finish(struct client_conn *c);

/* Says why, on stderr: the first of its kind over all workers; the others are in the table of
 * outcomes.  text: NULL: nothing. */
void client_conn_complain(const struct client_conn *c, struct outcome outcome, const char *text);

/* The one way out: its queries get their outcomes, the socket is closed, the outcome is counted.
 * Idempotent, safe in every state.  error: errno to show for the first of its kind, or 0. */
void client_conn_close(struct client_conn *c, struct outcome outcome, int error);

#endif
