/* SPDX-License-Identifier: MIT
 * poller: waits for the sockets of a worker, of which there may be a million.
 *
 * The sockets are in an epoll(7) instance of their own, which is itself one event of the worker's
 * base.  An event of libevent takes 174 bytes (128 of struct event, the rest in its table of
 * descriptors), a struct polled 24: without events, a connection takes 95 bytes in tcpclient and 75
 * in tcpserver instead of 243 and 216, and a query as much CPU time (ratio 1.00 at 300 kq/s over
 * 2,000 connections).  Used by the worker's thread only. */
#ifndef TCPSCALER_NET_POLLER_H
#define TCPSCALER_NET_POLLER_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdint.h>
#include <sys/epoll.h>

struct polled;

/* what: EV_READ, EV_WRITE, or both; or EV_TIMEOUT.  After an error, or once both directions are
 * shut down, a socket is ready for all it is watched for. */
typedef void poller_callback(struct polled *s, short what);

/* A socket, part of its owner's struct.  All zero: not watched. */
struct polled {
    poller_callback *callback;
    struct event *timer; /* NULL: no timeout is pending */
    int fd;        /* remains when it is no longer watched; set by the owner or poller_watch() */
    uint16_t what; /* EV_READ, EV_WRITE, EV_ET; 0: not watched */
    uint16_t ready_index; /* in poller.ready, counted from 1; 0: not there */
};

_Static_assert(sizeof(struct polled) == 24, "memory per idle connection");

/* Sockets taken from epoll at a time, as many as libevent takes. */
enum { POLLER_MOST_READY = 4096 };

struct poller {
    struct event_base *base;
    struct epoll_event *ready; /* what is being called back; data.ptr NULL: stopped meanwhile */
    int epoll_fd;
    struct event event;
};

/* Its event has the default priority of the base: WORKER_PRIORITY_SOCKET.  Returns 0, or -1 with
 * errno. */
int poller_init(struct poller *p, struct event_base *base);

/* Also if all zero.  No socket may be watched any more, and no timeout pending. */
void poller_free(struct poller *p);

/* Calls back whenever the socket is ready for `what`: EV_READ, EV_WRITE or both, and EV_ET to be
 * told only once.  If it is watched already, replaces `what`, callback and timeout.  timeout: a
 * common one of libevent, or NULL; see poller_set_timeout().  Returns 0 or an errno: ENOSPC because
 * of fs.epoll.max_user_watches, or ENOMEM; it is then not watched. */
int poller_watch(struct poller *p, struct polled *s, int fd, short what, poller_callback *callback,
                 const struct timeval *timeout);

/* Replaces `what` of a socket that is watched, and reports again what is still ready.  Returns 0 or
 * an errno. */
int poller_change(struct poller *p, struct polled *s, short what);

/* Calls back once with EV_TIMEOUT, unless it is set again, cleared, or the socket stopped, before.
 * Needs no socket: the callback is s->callback.  timeout: a common one of libevent, or NULL to
 * clear it.  _own: any other, for which it leaves room for the worker's timers (net/worker.h),
 * which takes about 1 us.  Returns 0 or ENOMEM. */
int poller_set_timeout(struct poller *p, struct polled *s, const struct timeval *timeout);
int poller_set_own_timeout(struct poller *p, struct polled *s, const struct timeval *timeout);
void poller_clear_timeout(struct polled *s);

/* Neither the socket nor its timeout is reported any more, nor what was found ready in this
 * iteration.  The socket stays open.  No effect if it is not watched. */
void poller_stop(struct poller *p, struct polled *s);

#endif
