/* SPDX-License-Identifier: MIT
 * server_push: a worker's share of the messages that tcpserver pushes to its subscribers.
 *
 * Every connection is greeted when accepted and becomes a subscriber with the first byte it sends.
 * Further bytes are read and ignored; the end of its stream closes it.  A worker pushes RATE * (its
 * subscribers / all subscribers) messages per second, so that all workers together push RATE and
 * every subscriber gets the same share, however the kernel distributed the subscribers over the
 * workers.  A change of either number takes effect with the worker's next message; a worker that is
 * behind applies it to the messages that are due and not yet sent, too.  Random selection implies
 * Poisson arrivals, round-robin constant ones.
 *
 * A turn takes the due messages, at most SERVER_PUSH_TURN, and sends each subscriber its messages
 * together, up to PUSH_MAX_BYTES with one send(2).  Messages that a socket does not accept are
 * dropped and counted; only the rest of a message sent in part is kept.  A dropped message keeps
 * its sequence number, so its subscriber sees the gap.  A greeting is never dropped: it waits for
 * room.  Used by the worker's thread only. */
#ifndef TCPSCALER_SERVER_PUSH_H
#define TCPSCALER_SERVER_PUSH_H

#include "base/rng.h"
#include "net/alarm.h"
#include "protocol/push_message.h"
#include "server/conn.h"
#include "workload/pacer.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdint.h>

#define SERVER_PUSH_TURN 1024u

struct server_subscriber {
    struct server_conn *conn;
    uint64_t sequence;            /* of the next message */
    uint16_t first_due, last_due; /* list in server_push.due, or SERVER_PUSH_NONE */
};

#define SERVER_PUSH_NONE UINT16_MAX

struct server_due {
    uint64_t intended_ns;
    uint16_t next; /* next of this subscriber, or SERVER_PUSH_NONE */
};

struct server_push {
    struct server_subscriber *subscribers;
    uint32_t n, capacity;
    uint32_t next_round_robin;
    struct pacer_segment rate;
    struct pacer pacer;
    uint32_t paced_n;     /* subscribers that the pacer's rate is based on: this worker's ... */
    uint64_t paced_n_all; /* ... and all workers' */
    struct rng rng;
    struct alarm alarm; /* next message */
    uint64_t clock_id, realtime_offset_ns, offset_read_ns;
    /* Current turn. */
    struct server_due due[SERVER_PUSH_TURN];
    struct server_conn *turn[SERVER_PUSH_TURN]; /* subscribers with due messages, each once */
    uint32_t n_due, n_turn;
    struct push_pattern pattern;
    uint8_t out[PUSH_MAX_BYTES]; /* data of one send */
};

/* Allocates conns->push and sets push_ops if the configuration has a push rate.  Returns 0, or -1
 * with errno. */
int server_push_init(struct server_conns *conns, uint32_t worker_index);

/* Call it after server_conns_free(). */
void server_push_free(struct server_conns *conns);

#endif
