/* SPDX-License-Identifier: MIT
 * worker: see net/worker.h.  Owns the thread, the base and the mailbox; knows nothing of
 * connections.
 */
#include "net/worker.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread_start.h"
#include "net/fd_table.h"
#include "net/thread.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { MOST_RESERVED = 1 + WORKER_TIMERS };

/* Only with epoll(7): if it fails, libevent would silently take poll(2), whose cost grows with the
 * number of connections.  Does not set EVENT_BASE_FLAG_PRECISE_TIMER: with it, libevent sets a
 * timerfd before every epoll_wait(2), one system call in four of an echo.  Precise timers use their
 * own timerfd.  Does not call event_config_set_max_dispatch_interval(): with thousands of ready
 * sockets, every check of the timer between them is an epoll_wait(2) that visits all of them (40 %
 * of the client's CPU time at 300 kq/s over 2,000 connections).  Code with a deadline reads the
 * clock between callbacks instead. */
static struct event_base *base_new(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (config == NULL)
        return NULL;
    if (event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV) == 0 &&
        event_config_avoid_method(config, "poll") == 0 &&
        event_config_avoid_method(config, "select") == 0)
        base = event_base_new_with_config(config);
    event_config_free(config);
    if (base != NULL && event_base_priority_init(base, WORKER_N_PRIORITIES) != 0) {
        event_base_free(base);
        base = NULL;
    }
    return base;
}

static void on_mailbox(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;
    uint64_t values[WORKER_KINDS], wakeups;
    uint32_t posted;

    (void)what;
    if (read(fd, &wakeups, sizeof wakeups) < 0)
        return;
    pthread_mutex_lock(&w->lock);
    posted = w->posted;
    memcpy(values, w->values, sizeof values);
    w->posted = 0;
    pthread_mutex_unlock(&w->lock);
    for (int kind = 0; kind < (int)WORKER_KINDS; kind++)
        if (posted & 1u << kind)
            w->ops->on_message(w, kind, values[kind]);
}

/* Has libevent allocate room for n <= MOST_RESERVED more timers; it never gives any back. */
static int reserve_timers(struct event_base *base, int n)
{
    const struct timeval later = {.tv_sec = 3600};
    struct event events[MOST_RESERVED];
    int n_added = 0;

    while (n_added < n) {
        evtimer_assign(&events[n_added], base, on_mailbox, NULL);
        if (event_add(&events[n_added], &later) != 0)
            break;
        n_added++;
    }
    for (int i = n_added; i > 0; i--)
        event_del(&events[i - 1]);
    return n_added == n ? 0 : -1;
}

static int open_base(struct worker *w)
{
    w->base = base_new();
    if (w->base == NULL || reserve_timers(w->base, WORKER_TIMERS) != 0)
        return -1;
    if (event_assign(&w->mailbox_event, w->base, w->mailbox_fd, EV_READ | EV_PERSIST, on_mailbox,
                     w) != 0)
        return -1;
    event_priority_set(&w->mailbox_event, WORKER_PRIORITY_TIMER);
    return event_add(&w->mailbox_event, NULL);
}

static void announce(struct worker *w, int failed)
{
    pthread_mutex_lock(&w->lock);
    w->start_error = failed ? (errno != 0 ? errno : EINVAL) : 0;
    w->state = failed ? WORKER_FAILED : WORKER_RUNNING;
    pthread_cond_signal(&w->ready);
    pthread_mutex_unlock(&w->lock);
}

/* Closes descriptors that the worker does not use, in its own table only: copies of other threads'
 * descriptors would use up its limit and keep their sockets and ports alive. */
static void split_fd_table(struct worker *w)
{
    if (thread_own_fd_table() == 0)
        fd_table_keep_only(w->mailbox_fd, w->params->keep_fds, w->params->n_keep_fds);
    else
        w->own_fd_table = false;
}

_Noreturn void worker_abort(void)
{
    log_error("cannot wait for events: %s", strerror(errno));
    abort();
}

void worker_run_loop(struct event_base *base, int flags)
{
    if (event_base_loop(base, flags) < 0)
        worker_abort();
}

static void loop(struct worker *w)
{
    if (w->ops->before_turn == NULL) {
        worker_run_loop(w->base, 0);
        return;
    }
    while (!w->finished) /* without EVLOOP_ONCE, libevent polls again while anything is active */
        worker_run_loop(w->base, EVLOOP_ONCE | (w->ops->before_turn(w) ? 0 : EVLOOP_NONBLOCK));
}

/* If another thread called it, pthread_setname_np(3) would open a file in /proc/self/task.  The
 * kernel caches such files, and when the process ends, its parent and its threads compete to remove
 * them: on 2 busy CPUs, that took 3 ms of CPU time instead of 0.05. */
static void name_this_thread(const struct worker *w)
{
    char name[16];

    snprintf(name, sizeof name, "%.11s%u", w->ops->name, w->index % 1000);
    pthread_setname_np(pthread_self(), name);
}

static void *run(void *arg)
{
    struct worker *w = arg;
    int failed;

    name_this_thread(w);
    if (w->own_fd_table)
        split_fd_table(w);
    errno = 0;
    failed = thread_pin(w->cpu) != 0 || open_base(w) != 0 || w->ops->setup(w) != 0;
    announce(w, failed);
    if (!failed)
        loop(w);
    w->ops->teardown(w);
    if (w->base != NULL)
        event_base_free(w->base);
    return NULL;
}

int worker_start(struct worker *w, const struct worker_ops *ops, const struct worker_params *params)
{
    int error;

    w->ops = ops;
    w->index = params->index;
    w->cpu = params->cpu;
    w->own_fd_table = params->own_fd_table;
    w->params = params;
    w->base = NULL;
    w->finished = false;
    w->posted = 0;
    w->state = WORKER_STARTING;
    w->mailbox_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (w->mailbox_fd < 0)
        return -1;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ready, NULL);
    error = thread_start(&w->thread, run, w);
    if (error == 0) {
        pthread_mutex_lock(&w->lock);
        while (w->state == WORKER_STARTING)
            pthread_cond_wait(&w->ready, &w->lock);
        error = w->start_error;
        pthread_mutex_unlock(&w->lock);
        if (error == 0)
            return 0;
        pthread_join(w->thread, NULL);
    }
    close(w->mailbox_fd);
    errno = error;
    return -1;
}

static void post(struct worker *w, int kind, uint64_t value, bool add)
{
    const uint64_t one = 1;

    assert(kind >= 0 && kind < (int)WORKER_KINDS);
    pthread_mutex_lock(&w->lock);
    w->values[kind] = add && (w->posted & 1u << kind) ? w->values[kind] + value : value;
    w->posted |= 1u << kind;
    pthread_mutex_unlock(&w->lock);
    /* if the eventfd's counter is full, a wake-up is pending */
    if (write(w->mailbox_fd, &one, sizeof one) < 0)
        assert(errno == EAGAIN);
}

void worker_post(struct worker *w, int kind, uint64_t value)
{
    post(w, kind, value, false);
}

void worker_post_more(struct worker *w, int kind, uint64_t value)
{
    post(w, kind, value, true);
}

void worker_add_timer(struct event *timer, const struct timeval *wait)
{
    int failed = event_add(timer, wait);

    assert(failed == 0);
    (void)failed;
}

int worker_add_unreserved_timer(struct event *timer, const struct timeval *wait)
{
    if (reserve_timers(event_get_base(timer), 1 + WORKER_TIMERS) != 0)
        return -1;
    return event_add(timer, wait);
}

void worker_add_timer_at(struct event *timer, uint64_t at_ns, uint64_t now_ns)
{
    const struct timeval wait = clock_timeval(at_ns > now_ns ? at_ns - now_ns + 999 : 0);

    worker_add_timer(timer, &wait);
}

bool worker_await_reads(struct event *timer, struct event *idle)
{
    static const struct timeval most = {.tv_sec = WORKER_MOST_PUT_OFF_S};
    const bool is_put_off =
        event_pending(timer, EV_TIMEOUT, NULL) || event_pending(idle, EV_TIMEOUT, NULL);

    event_del(timer);
    event_del(idle);
    if (!is_put_off) {
        event_active(idle, EV_TIMEOUT, 0);
        worker_add_timer(timer, &most);
    }
    return is_put_off;
}

void worker_finish(struct worker *w)
{
    w->finished = true;
    event_base_loopbreak(w->base);
}

void worker_join(struct worker *w)
{
    pthread_join(w->thread, NULL);
    close(w->mailbox_fd);
    pthread_cond_destroy(&w->ready);
    pthread_mutex_destroy(&w->lock);
}

static void on_message_of_libevent(int severity, const char *text)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (severity == EVENT_LOG_ERR) /* it ends the process */
        log_error("libevent: %s", text);
    else if (severity == EVENT_LOG_WARN && !atomic_flag_test_and_set(&said))
        log_error("libevent: %s; further warnings from it are not shown", text);
}

void worker_take_messages(void)
{
    event_set_log_callback(on_message_of_libevent);
}

const char *worker_backend(void)
{
    static const char *backend;
    struct event_base *base;

    if (backend == NULL && (base = base_new()) != NULL) {
        backend = event_base_get_method(base); /* static string of libevent */
        event_base_free(base);
    }
    return backend != NULL ? backend : "none";
}

const char *worker_version(void)
{
    static char text[128];

    snprintf(text, sizeof text, "%s, libevent %s (%s)", TCPSCALER_VERSION, event_get_version(),
             worker_backend());
    return text;
}
