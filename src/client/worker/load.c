/* SPDX-License-Identifier: MIT
 * client_load: see client/worker/load.h. */
#include "client/worker/load.h"

#include "base/clock.h"
#include "net/worker.h"

/* Polling the sockets takes about 1 us; when the next arrival is closer than this, only the clock
 * is read.  After a sleep the caches are cold, and polling and preparing the query take longer: at
 * 100 queries/s the median send lag was 5.5 us with 2 us, 2.1 us with 6 us. */
#define FINAL_SPIN_NS             2000u
#define FINAL_SPIN_AFTER_SLEEP_NS 6000u

static void on_nothing_to_read(evutil_socket_t fd, short what, void *arg);
static void on_timer(evutil_socket_t fd, short what, void *arg);
static void on_drain_end(evutil_socket_t fd, short what, void *arg);

/* --- initialization --- */

static void disarm_drain(struct client_load *l)
{
    event_del(&l->drain_event);
    event_del(&l->read_event);
}

int client_load_init(struct client_load *l)
{
    const struct client_transport *t = l->transport;

    wakeup_init(&l->wakeup, t->config->waiting_share, clock_now_ns());
    evtimer_assign(&l->drain_event, t->base, on_drain_end, l);
    evtimer_assign(&l->read_event, t->base, on_drain_end, l);
    event_priority_set(&l->read_event, WORKER_PRIORITY_IDLE);
    evtimer_assign(&l->rest_event, t->base, on_nothing_to_read, l);
    event_priority_set(&l->rest_event, WORKER_PRIORITY_IDLE);
    return alarm_init(&l->alarm, t->base, WORKER_PRIORITY_TIMER, on_timer, l);
}

void client_load_free(struct client_load *l)
{
    if (!l->alarm.is_open)
        return;
    alarm_free(&l->alarm);
    event_del(&l->rest_event);
    disarm_drain(l);
}

/* --- clock --- */

static void read_clock(struct client_load *l)
{
    l->span->now_ns = clock_now_ns();
    l->span->answered = false;
}

/* Opening and closing take longer than an answer, and the loop calls back for up to thousands of
 * sockets before its next iteration: without this, queries that become due meanwhile would wait for
 * all of them. */
static void read_clock_unless_answered(struct client_load *l)
{
    if (!l->span->answered)
        read_clock(l);
    l->span->answered = false;
}

/* --- timers --- */

/* Returns the next arrival or the end of the schedule. */
static uint64_t next_turn_ns(const struct client_load *l)
{
    const uint64_t due_ns = client_due_next_ns(l->due);

    if (!l->span->running)
        return PACER_NEVER;
    return due_ns < l->span->end_ns ? due_ns : l->span->end_ns;
}

/* Returns whether at_ns is more than distance_ns after now_ns. */
static bool is_farther(uint64_t at_ns, uint64_t now_ns, uint64_t distance_ns)
{
    return at_ns > now_ns && at_ns - now_ns > distance_ns;
}

static uint64_t ahead_ns(struct client_load *l)
{
    return l->transport->config->pace == CLIENT_PACE_SPIN
               ? PACER_NEVER
               : wakeup_ahead_ns(&l->wakeup, l->span->now_ns);
}

/* The timer expires early, by the time that the worker busy-waits; during the busy-wait it is
 * disarmed. */
static void arm_timer(struct client_load *l)
{
    const uint64_t next_ns = next_turn_ns(l);

    l->due->is_sooner = false;
    l->ahead_ns = ahead_ns(l);
    l->timer_ns = PACER_NEVER;
    if (next_ns != PACER_NEVER &&
        (l->ahead_ns == 0 || is_farther(next_ns, l->span->now_ns, l->ahead_ns))) {
        l->timer_ns = next_ns - l->ahead_ns;
        alarm_set(&l->alarm, l->timer_ns);
    } else {
        alarm_clear(&l->alarm);
    }
}

/* --- a turn: queue what is due, then send it --- */

void client_load_check_drained(struct client_load *l)
{
    const struct inflight *t = &l->queries->inflight;

    if (l->draining && t->n_sent == 0 && t->n_queued == 0) {
        l->draining = false;
        disarm_drain(l);
        client_stage_enter(l->stages, CLIENT_DRAINED);
    }
}

/* Every query due before the end has been sent, however late, or waits for a connection on demand.
 * The drain starts at the last query: if it is as long as the timeout, every query gets its full
 * timeout. */
static void end_schedule(struct client_load *l)
{
    const struct client_config *config = l->transport->config;
    const uint64_t now_ns = l->span->now_ns;

    if (!config->on_demand)
        client_turnover_stop(l->turnover);
    l->span->running = false;
    if (config->listens) {
        client_subscribe_end(l->subscribe);
        return;
    }
    l->draining = true;
    l->drain_end_ns = now_ns + config->drain_ns;
    worker_add_timer_at(&l->drain_event, l->drain_end_ns, now_ns);
    client_load_check_drained(l);
}

static void apply_targets(struct client_load *l)
{
    l->span->measure_ns = l->targets->measure_ns;
    l->span->end_ns = l->targets->end_ns;
    client_dispatch_replace(l->dispatch, l->targets->schedule);
}

/* Call it after reading the clock.  The rest of the targets follows with CLIENT_STEER. */
static void follow_early(struct client_load *l)
{
    struct client_targets *newest = l->transport->config->targets;

    if (newest == NULL || !l->span->running || !client_targets_are_newer(newest, l->targets))
        return;
    client_targets_update(l->targets, newest);
    apply_targets(l);
}

static void stop_waiting(struct client_load *l)
{
    if (l->awake_ns != 0)
        wakeup_waited(&l->wakeup, l->span->now_ns - l->awake_ns);
    l->awake_ns = 0;
}

static void take_turn(struct client_load *l)
{
    struct client_span *span = l->span;
    const uint64_t begin_ns = span->now_ns;

    stop_waiting(l);
    l->has_slept = false;
    follow_early(l);
    client_dispatch_due(l->dispatch, begin_ns);
    client_send_all(l->send);
    read_clock(l);
    l->rest_until_ns = span->now_ns + (span->now_ns - begin_ns);
    if (span->running && begin_ns >= span->end_ns && client_due_next_ns(l->due) == PACER_NEVER)
        end_schedule(l);
    arm_timer(l);
}

/* Reading takes precedence for a while after each turn. */
static bool may_take_turn(const struct client_load *l)
{
    return l->span->now_ns >= l->rest_until_ns;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct client_load *l = arg;

    (void)fd;
    (void)what;
    read_clock(l);
    if (l->span->now_ns < l->timer_ns)
        return; /* a callback before this one in the same pass of the loop has set it again */
    if (l->asleep) {
        wakeup_woke(&l->wakeup, l->timer_ns, l->span->now_ns);
        l->has_slept = true;
    }
    l->asleep = false;
    if (l->span->now_ns < next_turn_ns(l)) {
        alarm_clear(&l->alarm); /* busy-waits for the remaining time */
    } else if (may_take_turn(l)) {
        take_turn(l);
    } else {
        alarm_clear(&l->alarm); /* otherwise it would fire again before the sockets are polled */
        event_active(&l->rest_event, EV_TIMEOUT, 0);
    }
}

static void on_nothing_to_read(evutil_socket_t fd, short what, void *arg)
{
    struct client_load *l = arg;

    (void)fd;
    (void)what;
    read_clock(l);
    take_turn(l);
}

bool client_load_before_turn(struct client_load *l)
{
    struct client_span *span = l->span;
    uint64_t next_ns;

    l->asleep = false;
    if (l->due->is_sooner)
        arm_timer(l);
    if (next_turn_ns(l) == PACER_NEVER)
        return true;
    read_clock(l);
    follow_early(l);
    next_ns = next_turn_ns(l);
    if (is_farther(next_ns, span->now_ns, l->ahead_ns)) {
        l->asleep = l->timer_ns > span->now_ns;
        return true;
    }
    if (l->awake_ns == 0)
        l->awake_ns = span->now_ns;
    if (is_farther(next_ns, span->now_ns, l->has_slept ? FINAL_SPIN_AFTER_SLEEP_NS : FINAL_SPIN_NS))
        return false;
    if (!may_take_turn(l) && l->has_read) {
        l->has_read = false;
        return false;
    }
    /* Prepares the next query, so that it only has to be sent when it is due; but a connection for
     * it is not opened before. */
    if (!l->transport->config->conn_per_query)
        client_dispatch_due(l->dispatch, next_ns);
    while (span->now_ns < next_ns)
        read_clock(l);
    take_turn(l);
    return false;
}

void client_load_after_read(struct client_load *l)
{
    l->has_read = true;
    read_clock_unless_answered(l);
    if (next_turn_ns(l) <= l->span->now_ns && may_take_turn(l))
        take_turn(l);
    else if (l->send->n > 0)
        client_send_all(l->send);
    client_load_check_drained(l);
}

/* --- start and stop --- */

void client_load_start(struct client_load *l, const bool *takes_arrivals, uint64_t start_ns)
{
    const struct client_config *config = l->transport->config;
    struct client_span *span = l->span;

    read_clock(l);
    span->start_ns = start_ns;
    span->measure_ns = start_ns + config->warmup_ns;
    span->end_ns =
        config->duration_ns == PACER_NEVER ? PACER_NEVER : span->measure_ns + config->duration_ns;
    span->running = true;
    client_dispatch_start(l->dispatch, takes_arrivals, start_ns);
    client_stage_enter(l->stages, CLIENT_LOADING);
    if (config->listens)
        client_subscribe_start(l->subscribe);
    arm_timer(l);
}

void client_load_follow(struct client_load *l)
{
    if (!l->span->running)
        return;
    read_clock(l);
    apply_targets(l);
    arm_timer(l);
}

static void on_drain_end(evutil_socket_t fd, short what, void *arg)
{
    struct client_load *l = arg;

    (void)fd;
    (void)what;
    read_clock(l);
    if (l->span->now_ns < l->drain_end_ns) {
        worker_add_timer_at(&l->drain_event, l->drain_end_ns, l->span->now_ns);
        return;
    }
    if (!worker_await_reads(&l->drain_event, &l->read_event)) {
        l->drain_end_ns = l->span->now_ns;
        return;
    }
    client_query_expire_due(l->queries, l->drain_end_ns);
    client_load_stop(l);
}

void client_load_stop(struct client_load *l)
{
    const struct client_transport *t = l->transport;

    l->span->running = false;
    l->draining = false;
    arm_timer(l);
    client_query_disarm_expiry(l->queries);
    disarm_drain(l);
    for (uint32_t i = 0; i < t->n_conns; i++)
        if (t->conns[i].state != CLIENT_CONN_NEW && t->conns[i].state != CLIENT_CONN_ENDED)
            client_query_lost(l->queries, &t->conns[i],
                              (struct outcome){PHASE_RUN, REASON_CANCELLED});
    if (t->config->on_demand)
        client_demand_stop(l->demand);
    if (t->config->listens)
        client_subscribe_stop(l->subscribe);
    else
        client_stage_enter(l->stages, CLIENT_DRAINED);
}
