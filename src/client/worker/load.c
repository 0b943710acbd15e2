/* SPDX-License-Identifier: MIT
 * client_load: see client/worker/load.h. */
#include "client/worker/load.h"

#include "base/clock.h"
#include "client/worker/query.h"
#include "client/worker/worker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* A look at the sockets takes about 1 us: when an arrival is nearer than that only the clock is
 * read.  After a sleep the caches are cold, and to look and to prepare the query takes longer: at
 * 100 queries/s the median query was 5.5 us late with 2 us, 2.1 us with 6 us. */
#define FINAL_SPIN_NS             2000u
#define FINAL_SPIN_AFTER_SLEEP_NS 6000u

/* Queries in flight that there is room for from the begin: 56 MiB of addresses. */
enum { MOST_EXPECTED = 1 << 20 };

/* The most arrivals of one turn: of each connection, and for few connections in all.  After a pause
 * of the program the rest follows in the next turns: sockets are read in between, and what is not
 * queued yet takes no memory.  What a turn gives to one connection is one write: with 2 of each the
 * client sent 153,000 queries/s over 2,000 connections at 6.3 us of CPU time, with 64 of each
 * 982,000 at 1.0 us. */
enum { MOST_PER_TURN_OF_EACH = 64, MOST_PER_TURN_OF_FEW = 4096 };

static void on_nothing_to_read(evutil_socket_t fd, short what, void *arg);
static void on_timer(evutil_socket_t fd, short what, void *arg);
static void on_drain_end(evutil_socket_t fd, short what, void *arg);

/* --- set up --- */

/* Room for all that this worker sends within the timeout: when a server stops answering nobody
 * waits for the table to grow.  Memory is used as they come. */
static uint32_t expected_in_flight(const struct client_worker *cw)
{
    const struct client_config *config = cw->config;
    const double rate = schedule_peak_qps(&config->schedule) * cw->n_conns / config->n_connections;
    const double n = rate * 1.1 * (double)config->timeout_ns / 1e9;

    return n < MOST_EXPECTED ? (uint32_t)n + 256 : MOST_EXPECTED;
}

/* In a closed loop the queries of a file are used in their order by each worker, from as far into
 * them as its connections are into all. */
static size_t first_asked(const struct client_worker *cw)
{
    const struct client_config *config = cw->config;

    return query_at(&config->query,
                    config->query.n_queries * cw->first_conn / config->n_connections);
}

int client_load_init(struct client_worker *cw)
{
    const struct client_config *config = cw->config;
    struct client_load *l = &cw->load;

    wakeup_init(&l->wakeup, config->waiting_share, clock_now_ns());
    client_choice_init(cw);
    client_query_init(cw);
    evtimer_assign(&l->drain_event, cw->worker.base, on_drain_end, cw);
    evtimer_assign(&l->rest_event, cw->worker.base, on_nothing_to_read, cw);
    event_priority_set(&l->rest_event, WORKER_PRIORITY_IDLE);
    l->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (l->timer_fd < 0)
        return -1;
    event_assign(&l->timer_event, cw->worker.base, l->timer_fd, EV_READ | EV_PERSIST, on_timer, cw);
    event_priority_set(&l->timer_event, WORKER_PRIORITY_TIMER);
    if (event_add(&l->timer_event, NULL) != 0 ||
        inflight_init(&l->inflight, expected_in_flight(cw),
                      !config->listens && config->query.protocol->has_id) != 0)
        return -1;
    if (client_send_init(cw) != 0)
        return -1;
    if (config->loop == CLIENT_LOOP_CLOSED && closed_loop_init(&l->closed, cw->n_conns) != 0)
        return -1;
    return 0;
}

void client_load_free(struct client_worker *cw)
{
    struct client_load *l = &cw->load;

    if (event_initialized(&l->timer_event)) {
        event_del(&l->timer_event);
        event_del(&l->rest_event);
        event_del(&l->expiry_event);
        event_del(&l->drain_event);
        close(l->timer_fd);
    }
    client_send_free(cw);
    inflight_free(&l->inflight);
    closed_loop_free(&l->closed);
}

/* --- timers --- */

static uint64_t next_due_ns(const struct client_worker *cw)
{
    const struct client_load *l = &cw->load;
    uint64_t next_ns = cw->config->loop == CLIENT_LOOP_CLOSED ? closed_loop_next_ns(&l->closed)
                                                              : l->arrivals.pacer.next_ns;

    return l->running && next_ns < l->end_ns ? next_ns : PACER_NEVER;
}

/* The next arrival, or the end of the schedule. */
static uint64_t next_turn_ns(const struct client_worker *cw)
{
    const uint64_t due_ns = next_due_ns(cw);

    if (!cw->load.running)
        return PACER_NEVER;
    return due_ns < cw->load.end_ns ? due_ns : cw->load.end_ns;
}

/* at_ns lies more than distance_ns after now_ns. */
static bool is_farther(uint64_t at_ns, uint64_t now_ns, uint64_t distance_ns)
{
    return at_ns > now_ns && at_ns - now_ns > distance_ns;
}

static uint64_t ahead_ns(struct client_worker *cw)
{
    return cw->config->pace == CLIENT_PACE_SPIN
               ? PACER_NEVER
               : wakeup_ahead_ns(&cw->load.wakeup, cw->load.now_ns);
}

/* Setting it also takes back an expiry that was not read: no read(2) per turn.  The timer ends the
 * sleep so long before the next turn as the worker waits awake; where it is awake it is off. */
static void arm_timer(struct client_worker *cw)
{
    struct client_load *l = &cw->load;
    const uint64_t next_ns = next_turn_ns(cw);
    struct itimerspec at = {0};

    l->ahead_ns = ahead_ns(cw);
    l->timer_ns = PACER_NEVER;
    if (next_ns != PACER_NEVER &&
        (l->ahead_ns == 0 || is_farther(next_ns, l->now_ns, l->ahead_ns))) {
        l->timer_ns = next_ns - l->ahead_ns;
        at.it_value = clock_timespec(l->timer_ns);
    }
    timerfd_settime(l->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

void client_load_add_timer(struct event *event, uint64_t at_ns, uint64_t now_ns)
{
    struct timeval wait = clock_timeval(at_ns > now_ns ? at_ns - now_ns + 999 : 0);

    worker_add_timer(event, &wait);
}

/* --- a turn: queue what is due, then send it --- */

static bool queue(struct client_worker *cw, uint32_t i, uint64_t intended_ns, uint8_t tag,
                  size_t asked)
{
    struct client_load *l = &cw->load;
    struct client_conn *c = &cw->conns[i];
    uint32_t slot = inflight_queue(&l->inflight, &c->queries, i, intended_ns, tag);
    uint64_t gap_us;

    if (slot == INFLIGHT_NONE)
        return false;
    inflight_at(&l->inflight, slot)->query_offset = (uint32_t)asked;
    if (cw->lives.places != NULL && tag != TALLY_PROBE)
        client_life_give(c);
    gap_us = (intended_ns - l->previous_intended_ns) / 1000;
    inflight_at(&l->inflight, slot)->gap_us = gap_us < UINT32_MAX ? (uint32_t)gap_us : UINT32_MAX;
    client_send_join(c);
    return true;
}

/* A connection that has ended meanwhile has no next query: that is what a closed loop is. */
static uint32_t take_from_closed_loop(struct client_worker *cw)
{
    uint32_t i = closed_loop_pop(&cw->load.closed);

    cw->conns[i].in_loop = false;
    return client_conn_is_usable(&cw->conns[i]) ? i : CLIENT_CHOICE_NONE;
}

/* The queries of a file are used in its order, by the arrivals of all workers. */
static void pass_arrivals(struct client_load *l, const struct query *query, uint64_t n)
{
    for (; query->n_queries > 1 && n > 0; n--)
        l->next_asked = query_after(query, l->next_asked);
}

static uint64_t most_per_turn(const struct client_worker *cw)
{
    const uint64_t of_all = (uint64_t)cw->n_conns * MOST_PER_TURN_OF_EACH;

    return of_all > MOST_PER_TURN_OF_FEW ? of_all : MOST_PER_TURN_OF_FEW;
}

static void take_due(struct client_worker *cw, uint64_t now_ns)
{
    const uint64_t most = most_per_turn(cw);
    struct client_load *l = &cw->load;
    const bool closed = cw->config->loop == CLIENT_LOOP_CLOSED;
    uint64_t intended_ns;

    for (uint64_t n = 0; n < most; n++) {
        struct tally_queries *counts;
        bool rerouted;
        uint8_t class;
        size_t asked;
        uint32_t i;

        if ((intended_ns = next_due_ns(cw)) > now_ns || intended_ns == PACER_NEVER)
            break;
        class = intended_ns < l->measure_ns ? TALLY_WARMUP : TALLY_MEASURED;
        counts = &cw->tally.queries[class];
        rerouted = false;
        if (closed) {
            i = take_from_closed_loop(cw);
            if (i == CLIENT_CHOICE_NONE)
                continue;
            asked = l->next_asked;
            pass_arrivals(l, &cw->config->query, 1);
        } else {
            i = client_choice_make(cw, l->arrivals.connection, &rerouted);
            asked = l->next_asked;
            pass_arrivals(l, &cw->config->query, arrivals_advance(&l->arrivals));
        }
        tally_add(&counts->scheduled, 1);
        if (rerouted)
            tally_add(&counts->rerouted, 1);
        if (i == CLIENT_CHOICE_NONE || !queue(cw, i, intended_ns, class, asked)) {
            tally_add(&counts->unsent, 1);
            if (class == TALLY_MEASURED)
                client_query_unanswered(cw, false);
            if (closed) /* no memory for it: no answer will bring the next one */
                client_load_next_in_closed_loop(&cw->conns[i], now_ns);
        }
        l->previous_intended_ns = intended_ns;
    }
}

void client_load_check_drained(struct client_worker *cw)
{
    struct client_load *l = &cw->load;

    if (l->draining && l->inflight.n_sent == 0 && l->inflight.n_queued == 0) {
        l->draining = false;
        event_del(&l->drain_event);
        client_worker_enter(cw, CLIENT_DRAINED);
    }
}

/* What became due before the end has been sent, however late it is now.  The answers are awaited
 * from the last query on: with a drain as long as the timeout each has its full time. */
static void end_schedule(struct client_worker *cw)
{
    struct client_load *l = &cw->load;

    client_connect_begin_no_more(cw);
    l->running = false;
    if (cw->config->listens) {
        client_listen_end(cw);
        return;
    }
    l->draining = true;
    l->drain_end_ns = l->now_ns + cw->config->drain_ns;
    client_load_add_timer(&l->drain_event, l->drain_end_ns, l->now_ns);
    client_load_check_drained(cw);
}

static void stop_waiting(struct client_load *l)
{
    if (l->awake_ns != 0)
        wakeup_waited(&l->wakeup, l->now_ns - l->awake_ns);
    l->awake_ns = 0;
}

static void take_turn(struct client_worker *cw)
{
    struct client_load *l = &cw->load;
    const uint64_t begin_ns = l->now_ns;

    stop_waiting(l);
    l->has_slept = false;
    take_due(cw, begin_ns);
    client_send_all(cw);
    l->now_ns = clock_now_ns();
    l->rest_until_ns = l->now_ns + (l->now_ns - begin_ns);
    if (l->running && begin_ns >= l->end_ns && next_due_ns(cw) == PACER_NEVER)
        end_schedule(cw);
    arm_timer(cw);
}

/* Reading has precedence for a while after each turn. */
static bool may_take_turn(const struct client_load *l)
{
    return l->now_ns >= l->rest_until_ns;
}

/* Else it would go again before the sockets. */
static void stop_timer(struct client_load *l)
{
    static const struct itimerspec off;

    timerfd_settime(l->timer_fd, 0, &off, NULL);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct client_worker *cw = arg;
    struct client_load *l = &cw->load;

    (void)fd;
    (void)what;
    l->now_ns = clock_now_ns();
    if (l->asleep) {
        wakeup_woke(&l->wakeup, l->timer_ns, l->now_ns);
        l->has_slept = true;
    }
    l->asleep = false;
    if (l->now_ns < next_turn_ns(cw)) {
        stop_timer(l); /* the rest is waited for awake */
    } else if (may_take_turn(l)) {
        take_turn(cw);
    } else {
        stop_timer(l);
        event_active(&l->rest_event, EV_TIMEOUT, 0);
    }
}

static void on_nothing_to_read(evutil_socket_t fd, short what, void *arg)
{
    struct client_worker *cw = arg;

    (void)fd;
    (void)what;
    cw->load.now_ns = clock_now_ns();
    take_turn(cw);
}

bool client_load_before_turn(struct client_worker *cw)
{
    struct client_load *l = &cw->load;
    const uint64_t next_ns = next_turn_ns(cw);

    l->asleep = false;
    if (next_ns == PACER_NEVER)
        return true;
    l->now_ns = clock_now_ns();
    if (is_farther(next_ns, l->now_ns, l->ahead_ns)) {
        l->asleep = l->timer_ns > l->now_ns;
        return true;
    }
    if (l->awake_ns == 0)
        l->awake_ns = l->now_ns;
    if (is_farther(next_ns, l->now_ns, l->has_slept ? FINAL_SPIN_AFTER_SLEEP_NS : FINAL_SPIN_NS))
        return false;
    if (!may_take_turn(l) && l->has_read) {
        l->has_read = false;
        return false;
    }
    take_due(cw, next_ns); /* so that when its time has come it has only to be sent */
    while (l->now_ns < next_ns)
        l->now_ns = clock_now_ns();
    take_turn(cw);
    return false;
}

void client_load_after_read(struct client_worker *cw)
{
    struct client_load *l = &cw->load;

    l->has_read = true;
    if (next_turn_ns(cw) <= l->now_ns && may_take_turn(l))
        take_turn(cw);
    else if (cw->send.n > 0)
        client_send_all(cw);
    client_load_check_drained(cw);
}

/* --- phases --- */

/* A connection that stands in the loop for the one before it in its place asks in its turn. */
static void push_in_loop(struct client_conn *c, uint64_t due_ns)
{
    if (c->in_loop)
        return;
    c->in_loop = true;
    closed_loop_push(&c->worker->load.closed, due_ns, (uint32_t)(c - c->worker->conns));
}

static void spread_closed_loop(struct client_worker *cw, uint64_t start_ns)
{
    const struct client_config *config = cw->config;
    const double step_ns = (double)config->interval_ns / config->n_at_begin;
    const double first = (double)config->n_at_begin * cw->first_conn / config->n_connections;

    for (uint32_t i = 0; i < cw->n_conns; i++)
        if (client_conn_is_usable(&cw->conns[i]))
            push_in_loop(&cw->conns[i], start_ns + (uint64_t)(step_ns * (first + i)));
}

void client_load_start(struct client_worker *cw, uint64_t start_ns)
{
    const struct client_config *config = cw->config;
    struct client_load *l = &cw->load;
    const struct arrivals_config arrivals = {
        .arrival = (enum pacer_arrival)config->arrival,
        .segments = config->schedule.segments,
        .n_segments = config->schedule.n,
        .none_at_start =
            config->population.n > 0 && config->schedule.segments[0].rate_begin_qps == 0,
        .seed = config->seed,
        .random = config->select == CLIENT_SELECT_RANDOM,
        .n_connections = config->n_connections,
        .n_workers = config->n_workers,
        .worker = cw->worker.index,
        .takes = cw->takes_arrivals,
    };

    l->now_ns = clock_now_ns();
    l->start_ns = start_ns;
    l->measure_ns = start_ns + config->warmup_ns;
    l->end_ns =
        config->duration_ns == PACER_NEVER ? PACER_NEVER : l->measure_ns + config->duration_ns;
    l->previous_intended_ns = start_ns;
    l->running = true;
    l->arrivals.pacer.next_ns = PACER_NEVER;
    if (config->loop == CLIENT_LOOP_CLOSED) {
        l->next_asked = first_asked(cw);
        spread_closed_loop(cw, start_ns);
    } else if (cw->takes_arrivals[cw->worker.index]) {
        pass_arrivals(l, &config->query, arrivals_start(&l->arrivals, &arrivals, start_ns) - 1);
    }
    client_worker_enter(cw, CLIENT_LOADING);
    if (config->listens)
        client_listen_start(cw);
    arm_timer(cw);
}

void client_load_replace(struct client_worker *cw, const struct schedule *schedule, uint64_t end_ns)
{
    struct client_load *l = &cw->load;

    if (!l->running)
        return;
    l->now_ns = clock_now_ns();
    l->end_ns = end_ns;
    pacer_replace(&l->arrivals.pacer, schedule->segments, schedule->n);
    arm_timer(cw);
}

static void on_drain_end(evutil_socket_t fd, short what, void *arg)
{
    struct client_worker *cw = arg;
    struct client_load *l = &cw->load;

    (void)fd;
    (void)what;
    l->now_ns = clock_now_ns();
    if (l->now_ns < l->drain_end_ns) {
        client_load_add_timer(&l->drain_event, l->drain_end_ns, l->now_ns);
        return;
    }
    client_query_expire_due(cw);
    client_load_stop(cw);
}

void client_load_stop(struct client_worker *cw)
{
    struct client_load *l = &cw->load;

    l->running = false;
    l->draining = false;
    arm_timer(cw);
    event_del(&l->expiry_event);
    event_del(&l->drain_event);
    for (uint32_t i = 0; i < cw->n_conns; i++)
        if (cw->conns[i].state != CLIENT_CONN_NEW && cw->conns[i].state != CLIENT_CONN_ENDED)
            client_query_lost(&cw->conns[i], (struct outcome){PHASE_RUN, REASON_CANCELLED});
    if (cw->config->listens)
        client_listen_stop(cw);
    else
        client_worker_enter(cw, CLIENT_DRAINED);
}

/* --- queries that no arrival makes: proofs, and the next of a closed loop --- */

void client_load_prove(struct client_conn *c)
{
    struct client_worker *cw = c->worker;
    struct tally_queries *counts = &cw->tally.queries[TALLY_PROBE];

    tally_add(&counts->scheduled, 1);
    cw->load.now_ns = clock_now_ns();
    if (!queue(cw, (uint32_t)(c - cw->conns), cw->load.now_ns, TALLY_PROBE, 0)) {
        tally_add(&counts->unsent, 1);
        client_conn_close(c, (struct outcome){PHASE_SEND, REASON_MEMORY}, 0);
    }
}

void client_load_next_in_closed_loop(struct client_conn *c, uint64_t now_ns)
{
    struct client_worker *cw = c->worker;

    const struct client_load *l = &cw->load;

    if (cw->config->loop != CLIENT_LOOP_CLOSED || !l->running || c->state != CLIENT_CONN_LIVE)
        return;
    push_in_loop(c, (now_ns > l->start_ns ? now_ns : l->start_ns) + cw->config->interval_ns);
    if (l->closed.count == 1) /* the timer does not know of it: the loop was empty */
        arm_timer(cw);
}

void client_load_joined(struct client_conn *c)
{
    if (c->worker->config->listens && c->worker->load.running)
        client_listen_joined(c);
    client_load_next_in_closed_loop(c, clock_now_ns());
}
