/* SPDX-License-Identifier: MIT
 * client_listen: connections that ask for nothing but what a pushing tcpserver sends, and measure
 * that (protocol/push_message.h).
 *
 * A connection is proven by the greeting, which a pushing server sends when it accepts; one that is
 * not greeted for the timeout is half-open.  When the load starts, a settle time before its
 * schedule does, each connection subscribes with one byte, some at a time between reading.  From
 * then on every message counts: by its intended time it lies before, in or after the measurement.
 * At the end a worker listens on for the drain, then closes its half of each connection and reads
 * until the server has closed the other: nothing that the server handed to a socket is left unread.
 * Used by its worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_SUBSCRIBE_H
#define TCPSCALER_CLIENT_WORKER_SUBSCRIBE_H

#include "protocol/push_message.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client_worker;
struct client_conn;

#define CLIENT_LISTEN_NONE UINT32_MAX

struct client_listener {
    uint64_t next_sequence;
    struct push_stream *partial; /* the message under way; NULL: between two */
    bool leaving;                /* this half is closed, the server's is not */
    bool has_joined;             /* stands in client_listen.joined */
    uint32_t next_joined;
};

struct client_listen {
    struct client_listener *listeners; /* as client_worker.conns */
    const struct timeval *timeout;     /* common timeout of all first messages */
    struct push_pattern *pattern;
    uint64_t clock_id, realtime_offset_ns;
    int64_t least_ns; /* the least response time: below 0 where clocks disagree */
    struct event subscribe_event;
    uint32_t next_to_subscribe;
    uint32_t joined;         /* the first connection that became usable since; CLIENT_LISTEN_NONE */
    struct event next_event; /* end of the drain, then of reading to the end */
    uint32_t n_leaving;
};

/* For a worker that listens.  Returns 0 or -1 with errno. */
int client_listen_init(struct client_worker *cw);
void client_listen_free(struct client_worker *cw);

/* A connection is established: nothing has been heard from it. */
void client_listen_begin(struct client_conn *c);

/* An established connection whose first message did not come in time. */
void client_listen_unheard(struct client_conn *c);

/* The load starts: the live connections subscribe. */
void client_listen_start(struct client_worker *cw);

/* One more became usable since: it subscribes soon, not from within the callback that reads it. */
void client_listen_joined(struct client_conn *c);

/* n_bytes were received.  The connection may end by them. */
void client_listen_take(struct client_conn *c, const uint8_t *data, size_t n_bytes,
                        uint64_t received_ns);

/* The server has closed its half. */
void client_listen_closed(struct client_conn *c);

/* The connection ends: it is not waited for any more. */
void client_listen_left(struct client_conn *c);

/* The schedule is over: listens on for the drain, then reads to the end, then the worker is
 * DRAINED. */
void client_listen_end(struct client_worker *cw);

/* Likewise, at once: what was due until now is measured. */
void client_listen_stop(struct client_worker *cw);

#endif
