/* SPDX-License-Identifier: MIT
 * server_conn: an accepted connection, from opening to closing.  It may have to begin with a PROXY
 * header (server/header.h), then echoes, answers pings (server/io.h) or receives pushed messages
 * (server/push.h).
 *
 * A connection that neither sends nor accepts data for config->idle_timeout_ns is closed.  Used by
 * the worker's thread only. */
#ifndef TCPSCALER_SERVER_CONN_H
#define TCPSCALER_SERVER_CONN_H

#include "measure/outcome.h"
#include "net/poller.h"
#include "net/tls.h"
#include "server/config.h"
#include "server/tally.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

/* Size of one receive call, and thus the limit on the bytes kept for a peer that does not read. */
#define SERVER_BUFFER_BYTES 65536u

#define SERVER_NO_SUBSCRIBER UINT32_MAX
#define SERVER_SERIAL_MASK   ((UINT64_C(1) << 62) - 1)

struct server_conns;
struct server_header;
struct server_push;

/* Bytes that a socket did not accept. */
struct server_held {
    uint32_t n_bytes, n_sent;
    uint8_t data[];
};

struct server_conn {
    struct polled socket; /* first: server_conn_of() */
    struct server_conns *conns;
    union {
        struct server_held *held;      /* open connection; NULL: none */
        struct server_header *header;  /* open, awaits_header: one block of malloc(3) */
        struct server_conn *next_free; /* closed connection */
    };
    struct tls *tls;       /* set by the first byte received; NULL: plain TCP */
    uint32_t source_entry; /* of source_limit, if there is one */
    union {
        uint8_t ping_matched; /* bytes of a "Ping" received */
        uint32_t subscriber;  /* index in server_push.subscribers, or SERVER_NO_SUBSCRIBER */
    };
    uint64_t open : 1;
    uint64_t awaits_header : 1; /* its PROXY header: not served yet */
    uint64_t serial : 62;       /* per worker, increasing with each connection */
};

/* Most of the user memory that an idle connection takes; one cache line. */
_Static_assert(sizeof(struct server_conn) <= 64, "memory per idle connection");

/* Operations on connections that receive pushed messages (server/push.h). */
struct server_conn_push_ops {
    void (*greet)(struct server_conn *c);       /* accepted; the greeting may close it */
    int (*subscribe)(struct server_conn *c);    /* first byte received; -1: out of memory */
    void (*unsubscribe)(struct server_conn *c); /* the connection ends, subscribed or not */
};

/* Connections per block. */
enum { SERVER_BLOCK_CONNECTIONS = 64 };

/* The connections of a worker and what they share, set by the worker before it opens the first.
 * Connections live in blocks that are never moved or freed: the poller has pointers to them. Closed
 * ones are reused first. */
struct server_conns {
    struct server_config *config;
    struct event_base *base;
    struct poller poller; /* of the sockets of the connections */
    /* libevent common timeouts; NULL: none */
    const struct timeval *idle_timeout, *header_timeout;
    uint8_t *buffer;  /* SERVER_BUFFER_BYTES: received bytes */
    uint8_t *replies; /* ping: the answers */
    uint8_t *plain;   /* TLS: decrypted bytes; NULL: plain TCP */
    struct tls_worker tls;
    struct server_tally tally;
    const struct server_conn_push_ops *push_ops; /* NULL: no push */
    struct server_push *push;                    /* NULL: no push */
    void (*ended)(void *context);                /* a connection has ended, so there may be room */
    void *ended_context;
    struct server_conn **blocks;
    uint32_t n_blocks;
    struct server_conn *free_head;
    uint64_t next_serial;
};

/* Returns the connection of a socket. */
static inline struct server_conn *server_conn_of(struct polled *socket)
{
    return (struct server_conn *)(void *)socket;
}

/* Returns a connection that is all zero but for its `conns`; NULL: out of memory. */
struct server_conn *server_conn_new(struct server_conns *conns);

/* Makes a connection that is not open available again. */
void server_conn_drop(struct server_conn *c);

/* Opens a new connection.  Its socket is watched already, and closed with it. */
void server_conn_begin(struct server_conn *c);

/* Resets a connection that awaits its header and counts the refusal. */
void server_conn_refuse(struct server_conn *c, enum server_refusal why);

/* Closes a connection that is served; every end of one comes through here.  Counts the outcome,
 * closes the socket, calls conns->ended.  No effect if it is not open. */
void server_conn_close(struct server_conn *c, struct outcome outcome);

/* Sends close_notify to a TLS client, unless bytes are held back for it, and calls
 * server_conn_close(): for a connection that has not failed. */
void server_conn_end(struct server_conn *c, struct outcome outcome);

/* Closes all connections without an outcome, because they were active to the end; those that await
 * their header are refused.  Frees the connections and their poller, nothing else that they share.
 */
void server_conns_free(struct server_conns *conns);

#endif
