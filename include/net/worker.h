/* SPDX-License-Identifier: MIT
 * worker: a thread with its own event_base, its own fd table and a mailbox.
 *
 * Embedded as the first member of what a program's worker is.  RLIMIT_NOFILE holds per fd table, so
 * every worker multiplies it.  A table begins as a copy of the starter's, of which the worker keeps
 * the standard streams, its mailbox and the fds it is given, and closes the rest (its copies only).
 * What has to cross threads is created before worker_start(); what a worker creates exists in it
 * alone and is closed by the kernel when it ends. */
#ifndef TCPSCALER_NET_WORKER_H
#define TCPSCALER_NET_WORKER_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Event priorities of a worker's base: the pacing timer goes before the sockets, and what is idle
 * is called when none of them is ready. */
enum { WORKER_PRIORITY_TIMER, WORKER_PRIORITY_SOCKET, WORKER_PRIORITY_IDLE, WORKER_N_PRIORITIES };

/* Kinds of messages: 0 to WORKER_KINDS - 1. */
#define WORKER_KINDS 8u

struct worker;
struct worker_place;

/* All are called in the worker's thread. */
struct worker_ops {
    const char *name;               /* of the thread, < 12 characters */
    int (*setup)(struct worker *w); /* base exists, loop not yet running; -1 with errno: fails */
    void (*on_message)(struct worker *w, int kind, uint64_t value);
    /* Before each turn of the loop, or NULL: does what is due, returns whether the loop may sleep.
     */
    bool (*before_turn)(struct worker *w);
    void (*teardown)(struct worker *w); /* after the loop, also after a failed setup */
};

struct worker {
    const struct worker_ops *ops;
    uint32_t index;
    int cpu;           /* -1: any */
    bool own_fd_table; /* as asked; false when the kernel refused it */
    bool finished;
    const struct worker_place *place; /* until it has started */
    struct event_base *base;
    struct event mailbox_event;
    int mailbox_fd; /* eventfd */
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t ready;
    enum { WORKER_STARTING, WORKER_RUNNING, WORKER_FAILED } state;
    int start_error;
    uint32_t posted;               /* bit set: the kinds not yet taken by the worker ... */
    uint64_t values[WORKER_KINDS]; /* ... and their values */
};

struct worker_place {
    uint32_t index;
    int cpu; /* the only one it runs on; -1: any */
    bool own_fd_table;
    const int *keep_fds; /* the caller's descriptors that the worker uses too; those < 0 are none */
    uint32_t n_keep_fds;
};

/* Starts the thread and waits until its setup is done.  Returns 0, or -1 with errno when the
 * thread, its CPU, its base or its setup failed; then nothing of it is left.  The structure must
 * stay where it is. */
int worker_start(struct worker *w, const struct worker_ops *ops, const struct worker_place *place);

/* Any thread: on_message will be called with it.  Never fails and never waits: the mailbox has one
 * slot per kind, so a value replaces one of its kind that the worker has not taken yet.  Kinds that
 * wait together are taken in the order of their numbers. */
void worker_post(struct worker *w, int kind, uint64_t value);

/* Likewise, but the value is added to one of its kind that waits. */
void worker_post_more(struct worker *w, int kind, uint64_t value);

/* Adds one of the timers of a worker (fewer than eight pending at a time): cannot fail.  It may
 * come some milliseconds early or late (the kernel's coarse clock, and epoll_wait(2)'s unit). */
void worker_add_timer(struct event *timer, const struct timeval *wait);

/* Likewise, at an absolute time (CLOCK_MONOTONIC). */
void worker_add_timer_at(struct event *timer, uint64_t at_ns, uint64_t now_ns);

/* From its own callbacks: the loop ends after the current one. */
void worker_finish(struct worker *w);

/* Waits for the thread to end and releases its mailbox. */
void worker_join(struct worker *w);

/* The backend libevent uses here, e.g. "epoll". */
const char *worker_backend(void);

/* For --version: the program's, and libevent's with its backend.  A text of the callee's. */
const char *worker_version(void);

#endif
