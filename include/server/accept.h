/* SPDX-License-Identifier: MIT
 * server_accept: accepts connections, and pauses while there is no room for more.
 *
 * A worker whose fd table is full lets others accept from its listener (server/overflow.h) until
 * one of its connections ends.  If no other worker has room either, up to 64 of the connections
 * waiting in its queue are refused every 100 ms: accepted and reset with a spare fd, so that their
 * peers notice.  On ENFILE, ENOBUFS and ENOMEM the worker does the same and pauses for that time,
 * or until one of its connections ends.  A listener on which accepting fails for another reason is
 * set aside for that time; if it belongs to another worker, this worker's own stays in use.  Open
 * connections are not affected and the loop does not spin.  The worker logs when it begins to
 * refuse connections, and again after SERVER_ACCEPT_CALM_NS without.  Used by the worker's
 * thread only. */
#ifndef TCPSCALER_SERVER_ACCEPT_H
#define TCPSCALER_SERVER_ACCEPT_H

#include "server/conn.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

#define SERVER_ACCEPT_CALM_NS 60000000000ull

struct server_accept {
    struct server_conns *conns; /* opens the accepted connections; NULL: not started */
    struct server_config *config;
    uint32_t worker_index;
    struct event listener_event; /* this worker's listener ... */
    struct event overflow_event; /* ... and those of workers with a full table, ... */
    struct event turn_event;     /* ... while it has the turn at them */
    struct event timer_event;    /* tries again to accept */
    int listener_fd;             /* -1: none */
    struct server_spare *spare;  /* own_spare, or config->spare if the fd table is shared */
    struct server_spare own_spare;
    bool full;      /* the fd table is; others accept for this worker ... */
    bool refuses;   /* ... or none can: connections that wait are refused */
    bool helps;     /* accepts for workers with a full table, in turn with others */
    bool has_turn;  /* watches their listeners */
    bool paused;    /* out of memory or files, or awaits a memory grant; not set while `full` is */
    bool suspended; /* by request; not set while `paused` is */
    uint32_t n_wakeups;  /* in this turn */
    uint64_t refused_ns; /* when it last refused what waited in a queue; 0: never */
};

struct server_accept_params {
    uint32_t worker_index;
    int listener_fd; /* ownership passes; -1: accepts only for others */
    bool suspended;  /* until the first server_accept_suspend() */
};

/* *a must be zeroed.  Sets conns->ended.  Returns 0, or -1 with errno. */
int server_accept_start(struct server_accept *a, struct server_conns *conns,
                        const struct server_accept_params *params);

/* Stops accepting, or resumes it.  The kernel still completes as many handshakes as its
 * queue holds. */
void server_accept_suspend(struct server_accept *a, bool suspended);

/* Closes the listener and the spare fd.  No effect if never started. */
void server_accept_stop(struct server_accept *a);

#endif
