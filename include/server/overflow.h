/* SPDX-License-Identifier: MIT
 * server_overflow: lets workers with room accept for those whose fd table is full.
 *
 * Every worker has a copy of each listener, under the same number.  A worker whose table is full
 * puts its own listener into an epoll set that the others watch, and takes it out when it has room
 * again.  No connection passes from one table to another, and while no table is full all this costs
 * nothing.  When the last helper is full, the main thread is asked to start another worker. */
#ifndef TCPSCALER_SERVER_OVERFLOW_H
#define TCPSCALER_SERVER_OVERFLOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Watchers of the set at a time: the kernel allows 500 (path_limits in fs/eventpoll.c). */
#define SERVER_OVERFLOW_MOST_HELPERS 400u

struct server_overflow {
    int set_fd;    /* epoll set of the listeners of full workers; -1: nobody helps anybody */
    int wanted_fd; /* eventfd: readable when another worker is wanted; -1: likewise */
    _Atomic uint32_t n_helpers;
    _Atomic bool may_grow; /* the main thread starts another worker when asked */
};

/* Main thread, before the workers start.  With `is_used` false nobody helps anybody.  Returns 0, or
 * -1 with errno. */
int server_overflow_open(struct server_overflow *o, bool is_used, bool may_grow);
void server_overflow_close(struct server_overflow *o);

static inline bool server_overflow_is_open(const struct server_overflow *o)
{
    return o->set_fd >= 0;
}

/* --- workers, in their own fd tables --- */

/* The caller is going to watch set_fd until it leaves.  Returns whether it may: there are not too
 * many helpers. */
bool server_overflow_enter(struct server_overflow *o);

/* The caller has no room any more. */
void server_overflow_leave(struct server_overflow *o);

/* Lets helpers accept from the caller's listener, until it is withdrawn.  -1: nothing to do. */
void server_overflow_offer(const struct server_overflow *o, int listener_fd);
void server_overflow_withdraw(const struct server_overflow *o, int listener_fd);

/* A listener of a full worker that has connections waiting, in turn; -1: none. */
int server_overflow_next(const struct server_overflow *o);

/* Whether somebody accepts for full workers or soon will.  Where nobody does now, asks for another
 * worker. */
bool server_overflow_has_helper(struct server_overflow *o);

/* --- main thread --- */

/* Takes the request that made wanted_fd readable.  Returns whether it still stands. */
bool server_overflow_wants_worker(struct server_overflow *o);

void server_overflow_let_grow(struct server_overflow *o, bool may_grow);

#endif
