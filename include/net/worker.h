/* SPDX-License-Identifier: MIT
 * worker: a thread with its own event_base, its own fd table and a mailbox.
 *
 * Must be the first member of a program's worker struct.  RLIMIT_NOFILE applies per fd table, so
 * every worker adds that many descriptors.  A worker's table starts as a copy of its creator's; the
 * worker keeps the standard streams, its mailbox and the fds passed to it, and closes its copies of
 * all others.  Descriptors shared between threads must be opened before worker_start().
 * Descriptors that a worker opens exist only in its table; the kernel closes them when it ends. */
#ifndef TCPSCALER_NET_WORKER_H
#define TCPSCALER_NET_WORKER_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Event priorities of a worker's base, highest first: the pacing timer, the sockets, and work for
 * times when no socket is ready. */
enum { WORKER_PRIORITY_TIMER, WORKER_PRIORITY_SOCKET, WORKER_PRIORITY_IDLE, WORKER_N_PRIORITIES };

/* Kinds of messages: 0 to WORKER_KINDS - 1. */
#define WORKER_KINDS 8u

struct worker;
struct worker_params;

/* Callbacks, all called in the worker's thread. */
struct worker_ops {
    const char *name; /* of the thread, at most 11 characters, followed by index % 1000 */
    int (*setup)(struct worker *w); /* called before the loop runs; -1 with errno on failure */
    void (*on_message)(struct worker *w, int kind, uint64_t value);
    /* Called before each iteration of the loop; may be NULL.  Does what is due and returns whether
     * the loop may sleep. */
    bool (*before_turn)(struct worker *w);
    /* Called after the loop, also if setup failed or was never called. */
    void (*teardown)(struct worker *w);
};

struct worker {
    const struct worker_ops *ops;
    uint32_t index;
    int cpu;           /* -1: any */
    bool own_fd_table; /* false if not requested or refused by the kernel */
    bool finished;
    const struct worker_params *params; /* only valid until the worker has started */
    struct event_base *base;
    struct event mailbox_event;
    int mailbox_fd; /* eventfd */
    pthread_t thread;
    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t ready;
    enum { WORKER_STARTING, WORKER_RUNNING, WORKER_FAILED } state;
    int start_error;
    uint32_t posted;               /* bit set of kinds that are pending ... */
    uint64_t values[WORKER_KINDS]; /* ... and their values */
};

struct worker_params {
    uint32_t index;
    int cpu; /* CPU to pin the thread to; -1: any */
    bool own_fd_table;
    /* Descriptors of the caller that the worker uses, too; negative ones are ignored. */
    const int *keep_fds;
    uint32_t n_keep_fds;
};

/* Starts the thread and waits for its setup.  Returns 0; or -1 with errno if the thread, its CPU,
 * its base or its setup failed, with everything undone.  *w must not be moved. */
int worker_start(struct worker *w, const struct worker_ops *ops,
                 const struct worker_params *params);

/* Makes the worker call on_message.  Called by the thread that started the worker, or by the worker
 * itself: other workers do not have the mailbox in their fd tables.  Never fails and never blocks:
 * the mailbox has one slot per kind, so a value replaces a pending one of the same kind.  Pending
 * kinds are handled in numerical order. */
void worker_post(struct worker *w, int kind, uint64_t value);

/* Likewise, but adds the value to a pending one of the same kind. */
void worker_post_more(struct worker *w, int kind, uint64_t value);

/* Timers of a worker that may be pending at a time. */
enum { WORKER_TIMERS = 8 };

/* Adds a timer of a worker; cannot fail while fewer than WORKER_TIMERS are pending.  It may fire
 * some milliseconds early or late (coarse clock of the kernel, resolution of epoll_wait(2)). */
void worker_add_timer(struct event *timer, const struct timeval *wait);

/* Likewise, at an absolute time (CLOCK_MONOTONIC). */
void worker_add_timer_at(struct event *timer, uint64_t at_ns, uint64_t now_ns);

/* How long, at most, sockets that are ready all the time delay a timer. */
#define WORKER_MOST_PUT_OFF_S 1

/* For a timer whose work depends on data in the sockets, which this thread may read late.  Call it
 * from the callback that the timer and `idle`, an event of WORKER_PRIORITY_IDLE, share.  The first
 * call returns false, and has the callback called again once no socket is ready, or after
 * WORKER_MOST_PUT_OFF_S; the second call returns true. */
bool worker_await_reads(struct event *timer, struct event *idle);

/* Adds one of many timers; leaves room for the WORKER_TIMERS above.  Takes about 1 us.  Returns 0,
 * or -1 if there is no memory. */
int worker_add_unreserved_timer(struct event *timer, const struct timeval *wait);

/* From a callback: ends the loop after this callback. */
void worker_finish(struct worker *w);

/* Waits for the thread to end and releases its mailbox. */
void worker_join(struct worker *w);

/* Runs the loop of a base with these flags, as event_base_loop(3) does.  If epoll_wait(2) fails,
 * calls worker_abort().  Any thread. */
void worker_run_loop(struct event_base *base, int flags);

/* Aborts the process after an error message with errno: epoll_wait(2) has failed, so no event can
 * arrive any more, and no outcome either.  Any thread. */
_Noreturn void worker_abort(void);

/* Writes libevent's messages like this program's own: all errors, which end the process, but only
 * the first warning: libevent would write one for each call that fails, and wait for stderr. */
void worker_take_messages(void);

/* Returns libevent's backend here, "epoll", or "none" if it cannot be used.  Main thread. */
const char *worker_backend(void);

/* Returns the text of --version: the program's version, and libevent's with its backend.  A static
 * buffer.  Main thread. */
const char *worker_version(void);

#endif
