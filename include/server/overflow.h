/* SPDX-License-Identifier: MIT
 * server_overflow: lets workers with room accept for workers whose fd table is full.
 *
 * Every worker has a copy of each listener, under the same descriptor number.  A worker whose table
 * is full adds its own listener to an epoll set, and removes it when it has room again.  The others
 * take turns watching the set, because each connection wakes all workers that watch it. Connections
 * never move between tables, and none of this costs anything while no table is full.  When the last
 * helper is full, it asks the main thread to start another worker. */
#ifndef TCPSCALER_SERVER_OVERFLOW_H
#define TCPSCALER_SERVER_OVERFLOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct server_overflow {
    int set_fd;    /* epoll set of listeners of full workers; -1: workers do not help each other */
    int turn_fd;   /* eventfd, readable if no worker has the turn; -1: as above */
    int wanted_fd; /* eventfd, readable if another worker is wanted; -1: as above */
    _Atomic uint32_t n_helpers;
    _Atomic bool may_grow; /* the main thread starts workers on request */
};

/* Main thread, before the workers start.  is_used false: workers do not help each other.  Returns
 * 0, or -1 with errno. */
int server_overflow_open(struct server_overflow *o, bool is_used, bool may_grow);
void server_overflow_close(struct server_overflow *o);

static inline bool server_overflow_is_open(const struct server_overflow *o)
{
    return o->set_fd >= 0;
}

/* --- workers, in their own fd tables --- */

/* The caller has room and helps, until it leaves. */
void server_overflow_enter(struct server_overflow *o);

/* The caller has no room any more. */
void server_overflow_leave(struct server_overflow *o);

/* A helper watches set_fd while it has the turn, else turn_fd.  Takes the turn; false: another
 * helper was faster. */
bool server_overflow_take_turn(const struct server_overflow *o);
void server_overflow_pass_turn(const struct server_overflow *o);

/* Lets helpers accept from the caller's listener until it is withdrawn.  listener -1: no effect. */
void server_overflow_offer(const struct server_overflow *o, int listener_fd);
void server_overflow_withdraw(const struct server_overflow *o, int listener_fd);

/* Returns the listener of a full worker with waiting connections, in turn; -1 if there is none. */
int server_overflow_next(const struct server_overflow *o);

/* If no worker accepts for full ones, calls for another.  Returns whether one does or soon will. */
bool server_overflow_call_helper(struct server_overflow *o);

/* --- main thread --- */

/* Takes the request that made wanted_fd readable.  Returns whether it is still valid. */
bool server_overflow_take_request(struct server_overflow *o);

/* Says whether the main thread would start another worker on request. */
void server_overflow_let_grow(struct server_overflow *o, bool may_grow);

#endif
