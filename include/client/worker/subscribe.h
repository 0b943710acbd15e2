/* SPDX-License-Identifier: MIT
 * client_subscribe: connections that ask for nothing but what a pushing tcpserver sends, and
 * measure that (protocol/push_message.h).
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

#include "client/worker/span.h"
#include "client/worker/stage.h"
#include "client/worker/transport.h"
#include "protocol/push_message.h"

#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client_subscriber {
    uint64_t next_sequence;
    struct push_stream *partial; /* the message under way; NULL: between two */
    bool leaving;                /* this half is closed, the server's is not */
    bool has_joined;             /* is in the list client_subscribe.joined */
    uint32_t next_joined;
};

struct client_subscribe {
    struct client_transport *transport;
    struct client_span *span;
    struct client_stages *stages;
    struct client_subscriber *all; /* as client_transport.conns; NULL: the worker does not listen */
    struct push_pattern *pattern;
    uint64_t clock_id, realtime_offset_ns;
    struct event subscribe_event;
    uint32_t next_to_subscribe;
    uint32_t joined;         /* the first connection that became usable since; CLIENT_CONN_NONE */
    struct event next_event; /* end of the drain, then of reading to the end */
    uint32_t n_leaving;
};

/* For a worker that listens; what stands before `all` is set.  Returns 0 or -1 with errno. */
int client_subscribe_init(struct client_subscribe *s);
void client_subscribe_free(struct client_subscribe *s);

/* A connection is established: nothing has been heard from it. */
void client_subscribe_begin(struct client_subscribe *s, struct client_conn *c);

/* The load starts: the live connections subscribe. */
void client_subscribe_start(struct client_subscribe *s);

/* One more became usable.  During the load it subscribes soon, not from within the callback that
 * reads it. */
void client_subscribe_usable(struct client_subscribe *s, struct client_conn *c);

/* n_bytes were received; 0: the server has closed its half.  The connection may end by them. */
void client_subscribe_take(struct client_subscribe *s, struct client_conn *c, const uint8_t *data,
                           size_t n_bytes, uint64_t received_ns);

/* The connection has ended: it is not waited for any more. */
void client_subscribe_ended(struct client_subscribe *s, struct client_conn *c);

/* The schedule is over: listens on for the drain, then reads to the end, then the worker is
 * DRAINED. */
void client_subscribe_end(struct client_subscribe *s);

/* Likewise, at once: what was due until now is measured. */
void client_subscribe_stop(struct client_subscribe *s);

#endif
