/* SPDX-License-Identifier: MIT
 * client_turnover: see client/worker/turnover.h. */
#include "client/worker/turnover.h"

#include "base/clock.h"
#include "base/units.h"
#include "client/worker/conn.h"
#include "client/worker/wait.h"
#include "host/memory_watch.h"
#include "net/worker.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Interval at which the connection schedule is read: slopes become steps of this length. */
#define TICK_NS (10 * UNITS_NS_PER_MS)

/* Limits for changes by request: connections per step, time between steps. */
enum { STEP_CONNECTIONS = 16 };
#define STEP_NS UNITS_NS_PER_MS

/* Limit on connections that the schedule closes per call, so that queries are sent in between: when
 * one call closed 20,000, it took 1 s (with this limit queries are at most 5 ms late at p99). */
enum { MOST_CLOSED_PER_CALL = 64 };

static void on_tick(evutil_socket_t fd, short what, void *arg);
static void on_step(evutil_socket_t fd, short what, void *arg);

static void show_wanted(struct client_turnover *to)
{
    atomic_store_explicit(&to->transport->figures->n_wanted, to->pool->n_wanted,
                          memory_order_relaxed);
}

/* Returns this worker's share of the connection schedule; after its end, of its last value. */
static uint32_t scheduled(const struct client_turnover *to, uint64_t at_ns)
{
    const struct client_config *config = to->transport->config;
    const uint64_t end_ns = schedule_duration_ns(&config->population);
    const double n = schedule_rate_qps(&config->population, at_ns < end_ns ? at_ns : end_ns - 1);

    return pacer_connections_of((uint32_t)(n + 0.5), config->n_workers, to->transport->worker);
}

/* On demand each slot is open to queries, and its first connection is yet to be requested. */
static void admit_clients(struct client_turnover *to)
{
    while (client_pool_has_next(to->pool))
        client_pool_open_next(to->pool);
}

void client_turnover_init(struct client_turnover *to)
{
    const struct client_transport *t = to->transport;
    const bool follows = t->config->population.n > 0;
    const uint32_t n_wanted =
        follows ? scheduled(to, 0)
                : pacer_connections_of(t->config->n_at_begin, t->config->n_workers, t->worker);

    to->queries_per_conn = t->config->queries_per_conn;
    evtimer_assign(&to->tick_event, t->base, on_tick, to);
    evtimer_assign(&to->step_event, t->base, on_step, to);
    client_pool_init(to->pool, t->n_conns, n_wanted);
    to->pool->closes_newest = t->config->closes_newest;
    show_wanted(to);
    if (t->config->on_demand)
        admit_clients(to);
    else
        tally_add(&t->figures->n_requested, follows ? t->n_conns : n_wanted);
}

/* --- replacing connections --- */

static void begin_after_wait(struct client_turnover *to, struct client_conn *c, uint32_t n_failures)
{
    const struct timeval wait = clock_timeval(
        backoff_wait_ns(&to->transport->config->backoff, n_failures, &to->slots->rng));

    if (client_wait_start(c, &wait) != 0)
        client_turnover_waited(to, c);
}

void client_turnover_ended(struct client_turnover *to, struct client_conn *c,
                           struct outcome outcome)
{
    const uint32_t i = client_conn_slot(c);
    struct client_slot *slot;

    if (!client_slots_are_kept(to->slots))
        return;
    slot = &to->slots->all[i];
    client_tuples_give_back(&to->connect->tuples, client_conn_target(c), slot->tuple);
    slot->ended_ns = 0;
    if (to->connect->stopped || to->transport->config->on_demand)
        return;
    if (!client_pool_has(to->pool, i)) {
        client_connect_freed(to->connect);
        return;
    }
    slot->ended_ns = clock_now_ns();
    if (outcome.phase == PHASE_RUN && outcome.reason == REASON_FINISHED) {
        client_connect_reopen(to->connect, i);
    } else if (to->transport->config->reconnect) {
        client_slots_fail(to->slots, i, slot->ended_ns);
        begin_after_wait(to, c, slot->n_failures);
    }
}

void client_turnover_waited(struct client_turnover *to, struct client_conn *c)
{
    client_connect_reopen(to->connect, client_conn_slot(c));
}

void client_turnover_give(struct client_turnover *to, struct client_conn *c)
{
    const struct client_class *class = client_conn_class(c);
    const uint32_t most = class != NULL ? class->queries_per_conn : to->queries_per_conn;
    const uint32_t n = ++to->slots->all[client_conn_slot(c)].n_queries;

    if (most > 0 && n >= most)
        client_conn_finish(c);
}

/* --- number of connections --- */

static void retire(struct client_turnover *to, uint32_t slot)
{
    struct client_conn *c = &to->transport->conns[slot];

    client_slots_release(to->slots, slot);
    switch ((enum client_conn_state)c->state) {
    case CLIENT_CONN_LIVE:
        client_conn_finish(c);
        client_conn_close_if_finished(c);
        break;
    case CLIENT_CONN_CONNECTING:
    case CLIENT_CONN_SECURING:
    case CLIENT_CONN_PROVING:
        client_conn_close(c, (struct outcome){PHASE_RUN, REASON_CANCELLED}, 0);
        break;
    case CLIENT_CONN_HALF_OPEN:
        client_conn_close(c, (struct outcome){PHASE_RECEIVE, REASON_HALF_OPEN}, 0);
        break;
    case CLIENT_CONN_ENDED:
        client_wait_stop(c);
        client_connect_cancel_reopen(to->connect, slot);
        break;
    case CLIENT_CONN_NEW:
    case CLIENT_CONN_FINISHING:
        break;
    }
}

static bool has_surplus(const struct client_turnover *to)
{
    return to->pool->n_open > to->pool->n_wanted;
}

/* Sets the number wanted, opens what is missing, and closes some of the surplus. */
static void set_wanted(struct client_turnover *to, uint32_t n)
{
    client_pool_want(to->pool, n);
    show_wanted(to);
    for (int i = 0; i < MOST_CLOSED_PER_CALL && has_surplus(to); i++)
        retire(to, client_pool_close_oldest(to->pool));
    client_connect_more(to->connect);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct client_turnover *to = arg;
    const uint64_t now_ns = clock_now_ns(), start_ns = to->start_ns;
    struct timeval wait;

    (void)fd;
    (void)what;
    set_wanted(to, scheduled(to, now_ns > start_ns ? now_ns - start_ns : 0));
    wait = clock_timeval(has_surplus(to) ? STEP_NS : TICK_NS);
    worker_add_timer(&to->tick_event, &wait);
}

void client_turnover_follow(struct client_turnover *to, uint64_t start_ns)
{
    to->start_ns = start_ns;
    if (to->transport->config->population.n > 0)
        on_tick(-1, 0, to);
}

static void await_step(struct client_turnover *to, uint64_t now_ns)
{
    const uint64_t next_ns = to->pacer.next_ns;
    const struct timeval wait =
        clock_timeval(next_ns > now_ns + STEP_NS ? next_ns - now_ns : STEP_NS);

    worker_add_timer(&to->step_event, &wait);
}

static void on_step(evutil_socket_t fd, short what, void *arg)
{
    struct client_turnover *to = arg;
    const uint64_t now_ns = clock_now_ns();
    uint32_t slot;

    (void)fd;
    (void)what;
    for (int i = 0;
         i < STEP_CONNECTIONS && client_pool_is_stepping(to->pool) && to->pacer.next_ns <= now_ns;
         i++) {
        client_connect_next(to->connect, &to->pacer);
        if (client_pool_step(to->pool, &slot))
            retire(to, slot);
    }
    client_connect_more(to->connect);
    if (client_pool_is_stepping(to->pool))
        await_step(to, now_ns);
}

void client_turnover_request(struct client_turnover *to, uint32_t n)
{
    const double per_s = to->transport->config->connect_rate_per_s;
    const bool was_stepping = client_pool_is_stepping(to->pool);

    if (n != to->pool->n_wanted)
        client_connect_again(to->connect);
    if (to->pool->closes_newest && n < to->pool->n_wanted)
        client_pool_prefer(to->pool, client_transport_is_usable, to->transport);
    tally_add(&to->transport->figures->n_requested, client_pool_request(to->pool, n));
    show_wanted(to);
    if (was_stepping)
        return;
    client_connect_pace(to->connect, &to->pacer, &to->rate,
                        per_s > 0 ? per_s : CLIENT_TURNOVER_PER_S, clock_now_ns());
    on_step(-1, 0, to);
}

/* --- stop --- */

void client_turnover_stop(struct client_turnover *to)
{
    const struct client_transport *t = to->transport;

    if (to->connect->stopped)
        return;
    client_connect_stop(to->connect);
    event_del(&to->tick_event);
    event_del(&to->step_event);
    for (uint32_t i = 0; client_slots_are_kept(to->slots) && i < t->n_conns; i++)
        client_wait_stop(&t->conns[i]);
}

static bool is_opening(const struct client_conn *c)
{
    return c->state == CLIENT_CONN_CONNECTING || c->state == CLIENT_CONN_SECURING ||
           c->state == CLIENT_CONN_PROVING;
}

void client_turnover_cancel(struct client_turnover *to)
{
    const struct client_transport *t = to->transport;

    client_turnover_stop(to);
    for (uint32_t i = 0; i < t->n_conns; i++)
        if (is_opening(&t->conns[i]))
            client_conn_close(&t->conns[i], (struct outcome){PHASE_RUN, REASON_CANCELLED}, 0);
}

/* Connections that failed and were not replaced before the end. */
static void count_lost(struct client_turnover *to)
{
    struct client_figures *f = to->transport->figures;

    for (uint32_t i = 0; client_slots_are_kept(to->slots) && i < to->transport->n_conns; i++) {
        const uint64_t lost_ns = to->slots->all[i].lost_ns;

        if (lost_ns == 0 || !client_pool_has(to->pool, i))
            continue;
        hist_record_beyond(&f->recoveries, 1);
        if (f->records != NULL) {
            f->records[i].lost_ns = lost_ns;
            f->records[i].back_ns = 0;
        }
    }
}

void client_turnover_count_missing(struct client_turnover *to)
{
    const struct client_transport *t = to->transport;
    struct client_figures *f = t->figures;
    const struct outcome why = memory_watch_was_short(t->config->memory)
                                   ? (struct outcome){PHASE_SOCKET, REASON_MEMORY}
                                   : (struct outcome){PHASE_RUN, REASON_CANCELLED};
    const uint64_t n_first =
        tally_get(&f->tally.connections.attempted) - tally_get(&f->tally.connections.reopened);

    count_lost(to);
    tally_add(&f->tally.connections.ended[why.phase][why.reason],
              tally_get(&f->n_requested) - n_first);
    for (uint32_t i = 0; f->records != NULL && i < t->n_conns; i++)
        if (f->records[i].connections == 0) {
            f->records[i].ended_phase = (uint8_t)why.phase;
            f->records[i].ended_reason = (uint8_t)why.reason;
        }
}
