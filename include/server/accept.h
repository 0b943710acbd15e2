/* SPDX-License-Identifier: MIT
 * server_accept: takes connections from listening sockets, and rests when there is no room.
 *
 * A worker whose fd table is full lets others accept from its listener (server/overflow.h) until
 * one of its connections ends.  Where nobody can help, those who wait in its queue are refused
 * every 100 ms (accepted and reset with a spare fd, so that they learn of it); likewise at ENFILE,
 * ENOBUFS and ENOMEM, at which the worker rests for as long or until one of its connections ends.
 * Existing connections are never touched and the loop does not spin.  Used by its worker's thread
 * only. */
#ifndef TCPSCALER_SERVER_ACCEPT_H
#define TCPSCALER_SERVER_ACCEPT_H

#include "server/conn.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

struct server_accept {
    struct server_conns *conns; /* which it opens; NULL: not started */
    struct server_config *config;
    uint32_t worker_index;
    struct event listener_event; /* the worker's own listener ... */
    struct event overflow_event; /* ... and those of full workers */
    struct event timer_event;    /* to look again whether it can accept */
    int listener_fd;             /* -1: it has none */
    int spare_fd;   /* given up for a moment to refuse a connection; -1: none to be had */
    bool full;      /* its fd table: others accept for it */
    bool helps;     /* accepts for full workers */
    bool paused;    /* for want of memory or files; then not full */
    bool suspended; /* by request; then not paused */
    bool warned;
};

struct server_accept_place {
    uint32_t worker_index;
    int listener_fd; /* taken over; -1: it accepts for others alone */
    bool suspended;  /* not before server_accept_suspend() */
};

/* In zeroed memory.  Takes conns->ended.  Returns 0, or -1 with errno. */
int server_accept_start(struct server_accept *a, struct server_conns *conns,
                        const struct server_accept_place *place);

/* Takes no connections until resumed by request; the kernel goes on completing handshakes, as many
 * as its queue holds. */
void server_accept_suspend(struct server_accept *a, bool suspended);

/* Closes the listener and the spare fd; nothing if it was never started. */
void server_accept_stop(struct server_accept *a);

#endif
