/* SPDX-License-Identifier: MIT
 * server_push: a worker's part of the messages that tcpserver pushes to its subscribers.
 *
 * Every accepted connection is greeted at once, and a subscriber from the first byte on that it
 * sends; whatever else it says is read and ignored, its end of stream ends it.  A worker pushes
 * RATE * (its subscribers / all subscribers) messages per second, so that the sum is RATE and every
 * subscriber gets the same, however the kernel has spread them; a change of either number takes
 * effect with the worker's next message.  Random choice goes with Poisson arrivals, round-robin
 * with constant ones.
 *
 * A turn takes the messages that are due, at most SERVER_PUSH_TURN, and sends what each subscriber
 * gets with one send(2).  What a socket does not take is dropped and counted; only the rest of a
 * message that has begun is kept.  A dropped message has used its number, so that its subscriber
 * finds the gap.  Used by its worker's thread only. */
#ifndef TCPSCALER_SERVER_PUSH_H
#define TCPSCALER_SERVER_PUSH_H

#include "base/rng.h"
#include "protocol/push_message.h"
#include "server/conn.h"
#include "workload/pacer.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdint.h>

#define SERVER_PUSH_TURN 1024u

struct server_subscriber {
    struct server_conn *conn;
    uint64_t sequence;            /* of its next message */
    uint16_t first_due, last_due; /* in server_push.due, or SERVER_PUSH_NONE */
};

#define SERVER_PUSH_NONE UINT16_MAX

struct server_due {
    uint64_t intended_ns;
    uint16_t next; /* of the same subscriber, or SERVER_PUSH_NONE */
};

struct server_push {
    struct server_subscriber *subscribers;
    uint32_t n, capacity;
    uint32_t next_round_robin;
    struct pacer_segment rate;
    struct pacer pacer;
    uint32_t paced_n; /* numbers of subscribers that the pacer's rate is for: of this worker ... */
    uint64_t paced_n_all; /* ... and of all */
    struct rng rng;
    int timer_fd;
    struct event timer_event; /* the next message */
    uint64_t clock_id, realtime_offset_ns, offset_read_ns;
    /* of the turn under way */
    struct server_due due[SERVER_PUSH_TURN];
    struct server_conn *turn[SERVER_PUSH_TURN]; /* who has something due, each once */
    uint32_t n_due, n_turn;
    struct push_pattern pattern;
    uint8_t out[PUSH_MAX_BYTES]; /* what one send takes */
};

/* Makes conns->push, and push_ops, when the configuration asks for it.  Returns 0, or -1 with
 * errno.
 */
int server_push_init(struct server_conns *conns, uint32_t worker_index);

/* After server_conns_free(). */
void server_push_free(struct server_conns *conns);

#endif
