/* SPDX-License-Identifier: MIT
 * server_accept: see server/accept.h. */
#include "server/accept.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "host/memory_watch.h"
#include "measure/outcome.h"
#include "net/sock.h"
#include "net/worker.h"
#include "server/admission.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Connections accepted per wake-up: enough to amortize it, few enough not to delay open ones. */
enum { ACCEPT_BATCH = 64, REFUSE_BATCH = 64 };

/* Number of wake-ups for full workers after which another helper takes over. */
enum { TURN_WAKEUPS = 64 };

enum { REMEDY_BYTES = 200 };

#define PAUSE_NS     (100 * UNITS_NS_PER_MS)
#define LOOK_WAIT_NS (5 * UNITS_NS_PER_MS)

/* Refuses waiting connections with the spare fd. */
static void refuse_waiting(struct server_accept *a, int listener_fd, int error)
{
    for (int i = 0; i < REFUSE_BATCH && server_spare_refuse(a->spare, listener_fd) == 0; i++)
        server_tally_refuse(&a->conns->tally, server_refusal_of_errno(error));
}

/* --- enabling and disabling the listener --- */

static void set_timer(struct server_accept *a, uint64_t ns)
{
    const struct timeval wait = clock_timeval(ns);

    worker_add_timer(&a->timer_event, &wait);
}

static void pass_turn(struct server_accept *a)
{
    event_del(&a->overflow_event);
    if (a->has_turn)
        server_overflow_pass_turn(&a->config->overflow);
    a->has_turn = false;
}

static void ignore_listeners(struct server_accept *a)
{
    if (a->listener_fd >= 0)
        event_del(&a->listener_event);
    if (a->helps) {
        event_del(&a->turn_event);
        pass_turn(a);
    }
}

static void pause_for(struct server_accept *a, uint64_t ns)
{
    ignore_listeners(a);
    a->paused = true;
    set_timer(a, ns);
}

static void become_helper(struct server_accept *a)
{
    if (!server_overflow_is_open(&a->config->overflow))
        return;
    if (!a->helps)
        server_overflow_enter(&a->config->overflow);
    a->helps = true;
}

static void accept_for_others(struct server_accept *a)
{
    become_helper(a);
    if (a->helps && !a->has_turn && event_add(&a->turn_event, NULL) != 0)
        set_timer(a, PAUSE_NS);
}

/* While suspended, only counts as a helper: workers that resume before this one must not refuse
 * connections that it will accept. */
static void watch_listeners(struct server_accept *a)
{
    if (a->full || a->paused)
        return;
    if (a->suspended)
        become_helper(a);
    else if (a->listener_fd >= 0 && event_add(&a->listener_event, NULL) != 0)
        pause_for(a, PAUSE_NS);
    else
        accept_for_others(a);
}

/* " (...)", or "" if there is none to give. */
static const char *remedy_of(char text[REMEDY_BYTES], const struct server_accept *a, int error)
{
    const enum outcome_reason reason = outcome_reason_of_errno(error);

    text[0] = '\0';
    if (error == ENFILE)
        snprintf(text, REMEDY_BYTES, " (raise fs.file-max)");
    else if (error == EMFILE && a->config->thread_limit != NULL)
        snprintf(text, REMEDY_BYTES,
                 " (raise %s, for more threads, or the hard limit of each thread: ulimit -Hn)",
                 a->config->thread_limit);
    else if (error == EMFILE && a->config->threads_are_fixed)
        snprintf(text, REMEDY_BYTES,
                 " (use --threads auto, which adds a table per thread, or raise the hard limit: "
                 "ulimit -Hn)");
    else if (reason != REASON_OTHER)
        snprintf(text, REMEDY_BYTES, " (%s)", outcome_remedy(reason));
    return text;
}

/* Whether none was refused for a while. */
static bool was_calm(const struct server_accept *a, uint64_t now_ns)
{
    return a->refused_ns == 0 || now_ns - a->refused_ns >= SERVER_ACCEPT_CALM_NS;
}

static void refuse_and_log(struct server_accept *a, int listener_fd, int error)
{
    const uint64_t now_ns = clock_now_ns();
    char remedy[REMEDY_BYTES];

    if (was_calm(a, now_ns) && !a->config->quiet)
        log_error("thread %u: cannot accept: %s; refusing new connections until it can%s",
                  a->worker_index, strerror(error), remedy_of(remedy, a, error));
    a->refused_ns = now_ns;
    refuse_waiting(a, listener_fd, error);
}

static void count_pause(struct server_accept *a)
{
    tally_add(&a->conns->tally.accept_pauses, 1);
}

static void pause_accepting(struct server_accept *a, int listener_fd, int error)
{
    refuse_and_log(a, listener_fd, error);
    count_pause(a);
    pause_for(a, PAUSE_NS);
}

/* Does not help for a while; its own listener goes on. */
static void pause_helping(struct server_accept *a)
{
    event_del(&a->turn_event);
    pass_turn(a);
    set_timer(a, PAUSE_NS);
}

static void set_broken_aside(struct server_accept *a, int listener_fd, int error)
{
    if (listener_fd == a->listener_fd) {
        pause_accepting(a, listener_fd, error);
        return;
    }
    refuse_and_log(a, listener_fd, error);
    count_pause(a);
    pause_helping(a);
}

/* Waits for the main thread to grant memory, or refusals if it is short. */
static void await_grant(struct server_accept *a)
{
    pause_for(a, LOOK_WAIT_NS);
}

/* --- a full table --- */

/* Called when the table fills up, and repeatedly while it is full, which counts as one pause. */
static void ask_for_help(struct server_accept *a)
{
    const bool was_refusing = a->refuses;

    server_overflow_offer(&a->config->overflow, a->listener_fd);
    a->refuses =
        !a->suspended && !server_overflow_call_helper(&a->config->overflow) && a->listener_fd >= 0;
    if (a->refuses)
        refuse_and_log(a, a->listener_fd, EMFILE);
    if (a->refuses && !was_refusing)
        count_pause(a);
    set_timer(a, PAUSE_NS);
}

static void become_full(struct server_accept *a)
{
    a->full = true;
    ignore_listeners(a);
    if (a->helps)
        server_overflow_leave(&a->config->overflow);
    a->helps = false;
    ask_for_help(a);
}

static void become_not_full(struct server_accept *a)
{
    a->full = a->refuses = false;
    event_del(&a->timer_event);
    server_overflow_withdraw(&a->config->overflow, a->listener_fd);
    watch_listeners(a);
}

/* The limit may have been raised in the meantime. */
static bool has_room(const struct server_accept *a)
{
    const int fd = fcntl(a->config->overflow.set_fd, F_DUPFD_CLOEXEC, 0);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* --- accepting --- */

static void run_out(struct server_accept *a, int listener_fd, int error)
{
    if (error == EMFILE && server_overflow_is_open(&a->config->overflow))
        become_full(a);
    else
        pause_accepting(a, listener_fd, error);
}

static void accept_from(struct server_accept *a, int listener_fd)
{
    const bool needs_peer = server_admission_needs_peer(a->config);
    struct sock_address peer;
    int n_failed = 0, error = 0;

    for (int i = 0; i < ACCEPT_BATCH; i++) {
        const bool has_memory = memory_watch_take(a->config->memory);
        int fd;

        if (!has_memory && !memory_watch_take_refusal(a->config->memory)) {
            await_grant(a);
            return;
        }
        fd = server_spare_accept(a->spare, listener_fd, needs_peer ? &peer : NULL);
        error = errno;
        if (fd >= 0) {
            server_admit(a->conns, fd, &peer, has_memory);
            continue;
        }
        if (has_memory)
            memory_watch_give_back(a->config->memory);
        if (error == EAGAIN)
            return;
        if (server_spare_is_exhaustion(error)) {
            run_out(a, listener_fd, error);
            return;
        }
        n_failed++; /* concerns only the connection that accept(2) took off the queue, ... */
    }
    if (n_failed == ACCEPT_BATCH) /* ... unless it is the listener that is broken */
        set_broken_aside(a, listener_fd, error);
}

static void on_acceptable(evutil_socket_t listener_fd, short what, void *arg)
{
    (void)what;
    accept_from(arg, listener_fd);
}

static void on_overflow(evutil_socket_t set_fd, short what, void *arg)
{
    struct server_accept *a = arg;
    const int listener_fd = server_overflow_next(&a->config->overflow);

    (void)set_fd;
    (void)what;
    if (listener_fd >= 0) /* otherwise its owner has room again */
        accept_from(a, listener_fd);
    if (a->has_turn && ++a->n_wakeups >= TURN_WAKEUPS) {
        pass_turn(a);
        accept_for_others(a);
    }
}

static void on_turn(evutil_socket_t turn_fd, short what, void *arg)
{
    struct server_accept *a = arg;

    (void)turn_fd;
    (void)what;
    if (!server_overflow_take_turn(&a->config->overflow))
        return;
    event_del(&a->turn_event);
    a->has_turn = true;
    a->n_wakeups = 0;
    if (event_add(&a->overflow_event, NULL) != 0)
        pause_helping(a);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct server_accept *a = arg;

    (void)fd;
    (void)what;
    a->paused = false;
    if (!a->full)
        watch_listeners(a);
    else if (has_room(a))
        become_not_full(a);
    else
        ask_for_help(a);
}

/* A connection has ended, so there may be room. */
static void resume(void *context)
{
    struct server_accept *a = context;

    if (a->full) {
        become_not_full(a);
    } else if (a->paused) {
        a->paused = false;
        event_del(&a->timer_event);
        watch_listeners(a);
    }
}

int server_accept_start(struct server_accept *a, struct server_conns *conns,
                        const struct server_accept_params *params)
{
    *a = (struct server_accept){
        .conns = conns,
        .config = conns->config,
        .worker_index = params->worker_index,
        .listener_fd = params->listener_fd,
        .spare = conns->config->own_fd_tables ? &a->own_spare : &conns->config->spare,
        .suspended = params->suspended,
    };
    if (a->spare == &a->own_spare)
        server_spare_open(&a->own_spare, 0);
    conns->ended = resume;
    conns->ended_context = a;
    event_assign(&a->listener_event, conns->base, a->listener_fd, EV_READ | EV_PERSIST,
                 on_acceptable, a);
    event_assign(&a->overflow_event, conns->base, a->config->overflow.set_fd, EV_READ | EV_PERSIST,
                 on_overflow, a);
    event_assign(&a->turn_event, conns->base, a->config->overflow.turn_fd, EV_READ | EV_PERSIST,
                 on_turn, a);
    evtimer_assign(&a->timer_event, conns->base, on_timer, a);
    watch_listeners(a);
    return a->paused ? -1 : 0;
}

void server_accept_suspend(struct server_accept *a, bool suspended)
{
    if (a->suspended == suspended)
        return;
    a->suspended = suspended;
    if (!suspended) {
        watch_listeners(a);
    } else if (!a->full) {
        a->paused = false;
        event_del(&a->timer_event);
        ignore_listeners(a);
    }
}

void server_accept_stop(struct server_accept *a)
{
    if (a->conns == NULL)
        return;
    event_del(&a->timer_event);
    ignore_listeners(a);
    if (a->listener_fd >= 0)
        close(a->listener_fd);
    if (a->spare == &a->own_spare)
        server_spare_close(&a->own_spare);
}
