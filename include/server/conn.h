/* SPDX-License-Identifier: MIT
 * server_conn: one accepted connection, echoing, answering pings or (see server/push.h) being
 * pushed to.
 *
 * One that does nothing for config->idle_timeout_ns, neither sends nor takes what it was sent,
 * ends. What is received is in the worker's buffer and is sent from there at once; an idle
 * connection has no buffer.  Only what its socket refuses is kept (at most SERVER_BUFFER_BYTES,
 * with TLS a record more), and until that has left the connection is not read: a peer that never
 * reads costs 64 KiB and nobody else anything.  Reading needs no system call to re-arm.  Used by
 * its worker's thread only. */
#ifndef TCPSCALER_SERVER_CONN_H
#define TCPSCALER_SERVER_CONN_H

#include "measure/outcome.h"
#include "net/tls.h"
#include "server/config.h"
#include "server/tally.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stddef.h>
#include <stdint.h>

/* What one receive call takes, and so the most a connection whose peer does not read can hold. */
#define SERVER_BUFFER_BYTES 65536u

#define SERVER_NO_SUBSCRIBER UINT32_MAX

struct server_conns;
struct server_push;

/* What a socket refused. */
struct server_held {
    uint32_t n_bytes, n_sent;
    uint8_t data[];
};

struct server_conn {
    struct event event;
    struct server_conns *conns;
    union {
        struct server_held *held;      /* open; NULL: nothing */
        struct server_conn *next_free; /* not open */
    };
    struct tls *tls;       /* from the first byte received on; NULL: plain TCP */
    uint32_t source_entry; /* of source_limit, where there is one */
    uint32_t open : 1;
    uint32_t serial : 31; /* of this worker: the older the smaller, modulo 2^31 */
    union {
        uint8_t ping_matched; /* bytes of a "Ping" seen */
        uint32_t subscriber;  /* its place in server_push.subscribers, or SERVER_NO_SUBSCRIBER */
    };
};

/* With libevent's own bookkeeping of about 45 bytes per fd this keeps an idle connection below the
 * promised 256 bytes of user memory. */
_Static_assert(sizeof(struct server_conn) <= 168, "memory per idle connection");

/* What is done with connections that are pushed to (server/push.h). */
struct server_conn_push_ops {
    void (*greet)(struct server_conn *c); /* accepted; it may end by its greeting */
    int (*join)(struct server_conn *c);   /* has said something; -1: no memory */
    void (*leave)(struct server_conn *c); /* ends, subscribed or not */
};

/* How many of them a block has room for. */
enum { SERVER_BLOCK_CONNECTIONS = 64 };

/* The connections of a worker and what they share, which the worker sets before the first is
 * opened.  Connections live in blocks that are never moved or given back, so an event may stay
 * registered; closed ones are used again first. */
struct server_conns {
    struct server_config *config;
    struct event_base *base;
    const struct timeval *idle_timeout; /* of the base's common timeouts; NULL: none */
    uint8_t *buffer;                    /* SERVER_BUFFER_BYTES: what was received */
    uint8_t *replies;                   /* ping: what is answered to it */
    uint8_t *plain;                     /* TLS: what the buffer has in it; NULL: plain TCP */
    struct tls_worker tls;
    struct server_tally tally;
    const struct server_conn_push_ops *push_ops; /* NULL: nothing is pushed */
    struct server_push *push;                    /* likewise */
    void (*ended)(void *context);                /* a connection has ended: there may be room */
    void *ended_context;
    struct server_conn **blocks;
    uint32_t n_blocks;
    struct server_conn *free_head;
    uint32_t next_serial;
};

/* Begins to serve an accepted, non-blocking socket, and ends what source_entry stands for with it.
 * Returns 0; or -1 (no memory) with both still the caller's. */
int server_conn_open(struct server_conns *conns, int fd, uint32_t source_entry);

/* Sends messages of one size that stand one after the other.  Returns how many of them, from the
 * first on, the socket took, one counted whose rest is kept until it can leave; none while such a
 * rest is kept.  The connection may end by it. */
uint32_t server_conn_send(struct server_conn *c, const uint8_t *messages, uint32_t n_messages,
                          uint32_t message_bytes);

/* The one way out: counts the outcome, closes the socket, calls conns->ended. */
void server_conn_close(struct server_conn *c, struct outcome outcome);

/* Closes all connections, which have no outcome then: they were active to the end.  Frees all. */
void server_conns_free(struct server_conns *conns);

#endif
