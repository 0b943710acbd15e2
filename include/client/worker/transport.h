/* SPDX-License-Identifier: MIT
 * client_transport: the connections of one worker and what they share.
 *
 * client_io writes, client_tls encrypts, client_udp makes datagrams, client_conn changes states and
 * client_events waits for sockets.  None of them interprets the bytes; they report to their owner
 * through client_conn_ops.  Used by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_TRANSPORT_H
#define TCPSCALER_CLIENT_WORKER_TRANSPORT_H

#include "client/worker/config.h"
#include "client/worker/figures.h"
#include "measure/outcome.h"
#include "net/poller.h"
#include "protocol/query.h"
#include "workload/inflight.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client_backlog;
struct client_tls;
struct client_udp;

/* In order of a connection's life. */
enum client_conn_state {
    CLIENT_CONN_NEW,        /* no socket yet */
    CLIENT_CONN_CONNECTING, /* connect in progress */
    CLIENT_CONN_SECURING,   /* established; TLS handshake in progress */
    CLIENT_CONN_PROVING,    /* established; proof in flight */
    CLIENT_CONN_HALF_OPEN,  /* established; the proof timed out, an answer may still arrive */
    CLIENT_CONN_LIVE,       /* takes queries */
    CLIENT_CONN_FINISHING,  /* takes no more; closes once every query has its outcome */
    CLIENT_CONN_ENDED       /* outcome counted, socket closed */
};

/* A connection is unresponsive after this many queries in a row without an answer. */
enum { CLIENT_CONN_UNRESPONSIVE = 3 };

#define CLIENT_CONN_NONE     UINT32_MAX
#define CLIENT_RECEIVE_BYTES 65536u

/* One element of the worker's array, reused for the next connection of its slot.  Has no buffer:
 * query_stream is all that a partial answer needs, and unsent bytes are kept only while the socket
 * is full. */
struct client_conn {
    struct polled socket; /* first: client_conn_of() */
    struct client_transport *transport;
    struct client_backlog *backlog; /* bytes the socket did not accept; NULL: none */
    union {
        uint64_t connect_start_ns;  /* CONNECTING, SECURING: start of that state */
        struct query_stream stream; /* all later states */
        struct {                    /* ENDED, while is_queued */
            uint32_t next_ended;
            uint8_t ended_phase, ended_reason;
        };
    };
    struct inflight_list queries;
    uint8_t state;         /* enum client_conn_state */
    bool send_queued : 1;  /* in the queue of client_send */
    bool in_loop : 1;      /* its next query is in the closed loop */
    bool in_window : 1;    /* in the connect window */
    bool settled : 1;      /* this or an earlier connection of the slot has left the window */
    bool awaits_room : 1;  /* for room in its socket, for the backlog or waiting queries */
    bool opens_slowly : 1; /* slowly enough for TCP to have retransmitted */
    bool timed_out : 1;    /* at least one query did */
    bool is_queued : 1;    /* ENDED, not yet returned by client_conn_take_ended() */
    uint8_t n_unheard : 2; /* timeouts since the last answer, up to CLIENT_CONN_UNRESPONSIVE */
    bool header_due : 1;   /* its PROXY header has to precede the next byte sent */
    bool record_lost : 1;  /* with TLS; the peer could decrypt no record after it */
    /* of config->classes; 0: also without */
    uint8_t class_index : 4;
    bool proven : 1;       /* has received an answer */
    bool replaces : 1;     /* an earlier connection of the slot */
    bool owes_earlier : 1; /* its next answer is of an earlier size (client/worker/sizes.h) */
};

/* Most of the user memory that an idle connection takes. */
_Static_assert(sizeof(struct client_conn) <= 88, "memory per idle connection");

/* Callbacks of a connection.  All but `ended` may close it; none opens one. */
struct client_conn_ops {
    /* Bytes pass in both directions, after the TLS handshake, if any.  With config->prove the owner
     * sends the proof; the connection stays PROVING until client_conn_mark_proven(). */
    void (*established)(void *owner, struct client_conn *c);
    /* The connection became LIVE. */
    void (*usable)(void *owner, struct client_conn *c);
    /* The connection was LIVE and is now FINISHING or ENDED. */
    void (*unusable)(void *owner, struct client_conn *c);
    /* The connection became HALF_OPEN. */
    void (*half_open)(void *owner, struct client_conn *c);
    /* Decrypted bytes of one receive call.  n_bytes 0: the peer closed its half. */
    void (*data)(void *owner, struct client_conn *c, const uint8_t *data, size_t n_bytes,
                 uint64_t received_ns);
    /* The socket has room and no bytes are kept.  Returns whether to wait for more room. */
    bool (*room)(void *owner, struct client_conn *c);
    /* The connection has ended: the owner accounts for its queries.  Everything else that follows
     * is done later, after client_conn_take_ended(). */
    void (*ended)(void *owner, struct client_conn *c, struct outcome outcome);
    /* The delay of client_wait_start() is over. */
    void (*waited)(void *owner, struct client_conn *c);
    /* Last call of every socket callback. */
    void (*done)(void *owner);
};

struct client_transport {
    const struct client_config *config;
    const struct client_conn_ops *ops;
    void *owner; /* first argument of ops */
    /* One per class; without classes a single one: that of config, or the current one of
     * config->sizes. */
    const struct query *query;
    struct event_base *base;
    struct poller poller; /* of the sockets of the connections */
    struct client_figures *figures;
    /* n_conns elements; conns[i] has number first_conn + i over all workers. */
    struct client_conn *conns;
    uint32_t first_conn, n_conns;
    uint32_t worker;                        /* index */
    const struct timeval *connect_timeout;  /* libevent common timeouts: for connects, ... */
    const struct timeval *greeting_timeout; /* ... for greetings; NULL: none is expected */
    struct client_tls *tls;                 /* NULL: none uses TLS */
    struct client_udp *udp;                 /* NULL: TCP */
    bool has_codec;                         /* one of these two: not all plain TCP */
    uint8_t *received;                      /* CLIENT_RECEIVE_BYTES */
    /* Arrival in the kernel of the last bytes received; 0: unknown. */
    uint64_t arrived_ns;
    uint32_t first_ended, last_ended; /* queue, linked by next_ended; CLIENT_CONN_NONE: empty */
};

/* Returns the connection of a socket. */
static inline struct client_conn *client_conn_of(struct polled *socket)
{
    return (struct client_conn *)(void *)socket;
}

/* Returns the index in the array. */
static inline uint32_t client_conn_slot(const struct client_conn *c)
{
    return (uint32_t)(c - c->transport->conns);
}

/* Returns NULL if records were not requested. */
static inline struct client_record *client_conn_record(const struct client_conn *c)
{
    struct client_record *records = c->transport->figures->records;

    return records != NULL ? &records[client_conn_slot(c)] : NULL;
}

/* Returns its class; NULL: there are no classes. */
static inline const struct client_class *client_conn_class(const struct client_conn *c)
{
    const struct client_config *config = c->transport->config;

    return config->n_classes > 0 ? &config->classes[c->class_index] : NULL;
}

static inline bool client_conn_uses_tls(const struct client_conn *c)
{
    return c->transport->tls != NULL && (client_conn_class(c) == NULL || client_conn_class(c)->tls);
}

/* Returns whether it is proven by a query before it is usable. */
static inline bool client_conn_needs_proof(const struct client_conn *c)
{
    const struct client_class *class = client_conn_class(c);

    return class != NULL ? class->prove : c->transport->config->prove;
}

static inline const struct sock_address *client_conn_target(const struct client_conn *c)
{
    const struct client_class *class = client_conn_class(c);

    return class != NULL ? &class->target : &c->transport->config->target;
}

/* Returns the queries of its class. */
static inline const struct query *client_conn_query(const struct client_conn *c)
{
    return &c->transport->query[c->class_index];
}

/* Returns the figures of its class; NULL: there are no classes. */
static inline struct client_class_figures *client_conn_class_figures(const struct client_conn *c)
{
    struct client_class_figures *all = c->transport->figures->classes;

    return all != NULL ? &all[c->class_index] : NULL;
}

/* Counts the connection in its class, if there are classes.  count: CLASS_TALLY_OF(). */
static inline void client_conn_count_in_class(const struct client_conn *c, size_t count)
{
    struct client_class_figures *class = client_conn_class_figures(c);

    if (class != NULL)
        tally_add((tally_count *)((char *)&class->tally + count), 1);
}

/* Returns whether it takes queries. */
static inline bool client_conn_is_usable(const struct client_conn *c)
{
    return c->state == CLIENT_CONN_LIVE;
}

/* Returns whether a new connection may use its slot. */
static inline bool client_conn_is_free(const struct client_conn *c)
{
    return c->state == CLIENT_CONN_NEW || (c->state == CLIENT_CONN_ENDED && !c->is_queued);
}

/* Allocates t->n_conns connections, their poller and the receive buffer.  base, config, figures,
 * ops and owner are set by the caller.  Returns 0 or -1 with errno. */
int client_transport_init(struct client_transport *t);
void client_transport_free(struct client_transport *t); /* also if all zero */

/* client_conn_is_usable() by slot, for those who know only numbers.  transport: a struct
 * client_transport. */
bool client_transport_is_usable(const void *transport, uint32_t slot);

#endif
