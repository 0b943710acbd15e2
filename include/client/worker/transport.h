/* SPDX-License-Identifier: MIT
 * client_transport: the connections of one worker and what they share.
 *
 * client_io writes, client_tls encrypts, client_conn changes states, client_events waits for the
 * sockets: none of them knows what the bytes mean.  They report to their owner through
 * client_conn_ops.  Used by its worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_TRANSPORT_H
#define TCPSCALER_CLIENT_WORKER_TRANSPORT_H

#include "client/worker/config.h"
#include "client/worker/figures.h"
#include "measure/outcome.h"
#include "protocol/query.h"
#include "workload/inflight.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client_backlog;
struct client_tls;

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

/* After this many queries in a row without an answer the connection counts as deaf. */
enum { CLIENT_CONN_DEAF = 3 };

#define CLIENT_CONN_NONE     UINT32_MAX
#define CLIENT_RECEIVE_BYTES 65536u

/* One element of its worker's array, used again for the next connection of its slot.  No buffer
 * inside: a half-received answer needs the query_stream alone, unsent bytes are kept only while the
 * socket is full. */
struct client_conn {
    struct event event;
    struct client_transport *transport;
    struct client_backlog *backlog; /* bytes the socket did not take; NULL: none */
    union {
        uint64_t connect_start_ns;  /* CONNECTING, SECURING: when that began */
        struct query_stream stream; /* afterwards */
        struct {                    /* ENDED, while is_queued */
            uint32_t next_ended;
            uint8_t ended_phase, ended_reason;
        };
    };
    struct inflight_list queries;
    uint8_t state;         /* enum client_conn_state */
    bool send_queued : 1;  /* it is in the ring of client_send */
    bool in_loop : 1;      /* its next query is in the closed loop */
    bool in_window : 1;    /* it is counted in the connect window */
    bool settled : 1;      /* it, or one before it in this slot, has left that window */
    bool awaits_room : 1;  /* in its socket, for the backlog or for queries that wait */
    bool opens_slowly : 1; /* so slowly that TCP may have sent segments again meanwhile */
    bool timed_out : 1;    /* one of its queries has */
    bool is_queued : 1;    /* ENDED, and client_conn_take_ended() has not yet returned it */
    uint8_t n_unheard : 2; /* queries that timed out since something came; CLIENT_CONN_DEAF: more */
    bool proven;           /* has answered at least once */
};

/* With libevent's own bookkeeping of about 45 bytes per fd an idle connection stays below the
 * promised 256 bytes of user memory. */
_Static_assert(sizeof(struct client_conn) <= 192, "memory per idle connection");

/* What a connection reports.  Each may close the connection, but for `ended`; none opens one. */
struct client_conn_ops {
    /* Bytes pass in both directions, after TLS's handshake if there is one.  With config->prove the
     * owner is to have it prove itself: it stays PROVING until client_conn_mark_proven(). */
    void (*established)(void *owner, struct client_conn *c);
    /* It became LIVE. */
    void (*usable)(void *owner, struct client_conn *c);
    /* It was LIVE and is FINISHING or ENDED. */
    void (*unusable)(void *owner, struct client_conn *c);
    /* It became HALF_OPEN. */
    void (*half_open)(void *owner, struct client_conn *c);
    /* Plain bytes, received at a time.  n_bytes 0: the peer has closed its half. */
    void (*data)(void *owner, struct client_conn *c, const uint8_t *data, size_t n_bytes,
                 uint64_t received_ns);
    /* The socket has room and nothing is kept for it.  Returns whether to wait for more room. */
    bool (*room)(void *owner, struct client_conn *c);
    /* It has ended: accounts for its queries.  What follows from the end is done later, with
     * client_conn_take_ended(). */
    void (*ended)(void *owner, struct client_conn *c, struct outcome outcome);
    /* client_events_wait() is over. */
    void (*waited)(void *owner, struct client_conn *c);
    /* Every callback of a socket ends with it. */
    void (*done)(void *owner);
};

struct client_transport {
    const struct client_config *config;
    const struct client_conn_ops *ops;
    void *owner; /* first argument of ops */
    struct event_base *base;
    struct client_figures *figures;
    struct client_conn *conns; /* n_conns, numbers first_conn + i over all workers */
    uint32_t first_conn, n_conns;
    uint32_t worker;                        /* its index */
    const struct timeval *connect_timeout;  /* common timeouts: of all connects, ... */
    const struct timeval *greeting_timeout; /* ... of all first messages; NULL: none is awaited */
    struct client_tls *tls;                 /* NULL: plain TCP */
    uint8_t *received;                      /* CLIENT_RECEIVE_BYTES */
    uint64_t arrived_ns;              /* when the kernel had what was received last; 0: not known */
    uint32_t first_ended, last_ended; /* queue by next_ended; CLIENT_CONN_NONE: empty */
};

/* Its place in the array. */
static inline uint32_t client_conn_slot(const struct client_conn *c)
{
    return (uint32_t)(c - c->transport->conns);
}

/* NULL when records are not asked for. */
static inline struct client_record *client_conn_record(const struct client_conn *c)
{
    struct client_record *records = c->transport->figures->records;

    return records != NULL ? &records[client_conn_slot(c)] : NULL;
}

/* It takes queries. */
static inline bool client_conn_is_usable(const struct client_conn *c)
{
    return c->state == CLIENT_CONN_LIVE;
}

/* Another connection may be opened in its slot. */
static inline bool client_conn_is_free(const struct client_conn *c)
{
    return c->state == CLIENT_CONN_NEW || (c->state == CLIENT_CONN_ENDED && !c->is_queued);
}

/* Allocates the array of t->n_conns connections and the buffer.  base, config, figures, ops and
 * owner are set.  Returns 0 or -1 with errno. */
int client_transport_init(struct client_transport *t);
void client_transport_free(struct client_transport *t); /* also when all 0 */

#endif
