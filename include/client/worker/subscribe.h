/* SPDX-License-Identifier: MIT
 * client_subscribe: connections that send no queries, but subscribe to the messages of a pushing
 * tcpserver and measure them (protocol/push_message.h).
 *
 * A connection is proven by the greeting, which a pushing server sends when it accepts; one that is
 * not greeted within the timeout is half-open.  When the load starts, a settle time before its
 * schedule, each connection subscribes with one byte, a few at a time between reads.  From then on
 * every message counts: its intended time is before, in or after the measurement.  At the end a
 * worker keeps listening for the drain, then closes its half of each connection and reads until the
 * server has closed the other: nothing that the server handed to a socket is left unread.  So it
 * does with a connection that is closed by request.  Used by the worker's thread only. */
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
    uint64_t clock_id, realtime_offset_ns, offset_read_ns;
    struct event subscribe_event;
    uint32_t next_to_subscribe;
    uint32_t joined; /* list of those usable since the load began; CLIENT_CONN_NONE: empty */
    struct event next_event; /* end of the drain, then of reading to the end */
    struct event read_event; /* then: nothing left to read */
    uint32_t n_leaving;
};

/* For a worker that listens.  The fields before `all` are set by the caller.  Returns 0 or -1 with
 * errno. */
int client_subscribe_init(struct client_subscribe *s);
void client_subscribe_free(struct client_subscribe *s);

/* A connection is established and has not been greeted. */
void client_subscribe_begin(struct client_subscribe *s, struct client_conn *c);

/* The load starts: the live connections subscribe. */
void client_subscribe_start(struct client_subscribe *s);

/* Another connection became usable.  During the load it subscribes soon, but not from within the
 * callback that reads from it. */
void client_subscribe_usable(struct client_subscribe *s, struct client_conn *c);

/* Processes received bytes; n_bytes 0: the server has closed its half.  May close the connection.
 */
void client_subscribe_take(struct client_subscribe *s, struct client_conn *c, const uint8_t *data,
                           size_t n_bytes, uint64_t received_ns);

/* The connection has ended: no longer waits for it.  A message cut by a reset is damaged. */
void client_subscribe_ended(struct client_subscribe *s, struct client_conn *c,
                            struct outcome outcome);

/* The schedule is over: keeps listening for the drain, then reads to the end, then the worker
 * enters DRAINED. */
void client_subscribe_end(struct client_subscribe *s);

/* Likewise, at once: what was due until now is measured. */
void client_subscribe_stop(struct client_subscribe *s);

#endif
