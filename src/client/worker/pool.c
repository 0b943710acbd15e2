/* SPDX-License-Identifier: MIT
 * client_population: see client/worker/pool.h. */
#include "client/worker/pool.h"

#include "base/clock.h"
#include "client/worker/worker.h"
#include "host/memory_watch.h"

/* How often the schedule of connections is looked at: a slope is a staircase of so long steps. */
#define TICK_NS (10 * 1000000ull)

/* By request at most so many at a time, and steps at least so long. */
enum { STEP_CONNECTIONS = 16 };
#define STEP_NS 1000000ull

uint32_t client_population_place(const struct client_worker *cw, uint32_t from_oldest)
{
    const uint32_t i = cw->population.oldest + from_oldest;

    return i < cw->n_conns ? i : i - cw->n_conns;
}

/* This worker's part of what the schedule says; after its end, of what it ended with. */
static uint32_t scheduled(const struct client_worker *cw, uint64_t at_ns)
{
    const struct client_config *config = cw->config;
    const uint64_t end_ns = schedule_duration_ns(&config->population);
    const double n = schedule_rate_qps(&config->population, at_ns < end_ns ? at_ns : end_ns - 1);

    return pacer_connections_of((uint32_t)(n + 0.5), config->n_workers, cw->worker.index);
}

static void on_step(evutil_socket_t fd, short what, void *arg);

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct client_worker *cw = arg;
    const struct timeval tick = clock_timeval(TICK_NS);
    const uint64_t now_ns = clock_now_ns(), start_ns = cw->population.start_ns;

    (void)fd;
    (void)what;
    client_population_want(cw, scheduled(cw, now_ns > start_ns ? now_ns - start_ns : 0));
    worker_add_timer(&cw->population.tick_event, &tick);
}

void client_population_init(struct client_worker *cw)
{
    const bool follows = cw->config->population.n > 0;

    evtimer_assign(&cw->population.tick_event, cw->worker.base, on_tick, cw);
    evtimer_assign(&cw->population.step_event, cw->worker.base, on_step, cw);
    tally_add(&cw->population.n_wanted,
              follows ? scheduled(cw, 0)
                      : pacer_connections_of(cw->config->n_at_begin, cw->config->n_workers,
                                             cw->worker.index));
    tally_add(&cw->population.n_asked, follows ? cw->n_conns : tally_get(&cw->population.n_wanted));
}

void client_population_follow(struct client_worker *cw, uint64_t start_ns)
{
    cw->population.start_ns = start_ns;
    if (cw->config->population.n > 0)
        on_tick(-1, 0, cw);
}

void client_population_stop(struct client_worker *cw)
{
    event_del(&cw->population.tick_event);
    event_del(&cw->population.step_event);
}

bool client_population_has_next(const struct client_worker *cw)
{
    const struct client_population *p = &cw->population;

    return p->n_begun - p->n_leaving + p->n_coming < tally_get(&p->n_wanted) &&
           p->n_begun < cw->n_conns;
}

struct client_conn *client_population_take_next(struct client_worker *cw)
{
    struct client_conn *c = &cw->conns[client_population_place(cw, cw->population.n_begun)];

    c->worker = cw;
    if (c->state != CLIENT_CONN_NEW) /* let go, and still awaiting its last answer */
        client_conn_close(c, (struct outcome){PHASE_RUN, REASON_FINISHED}, 0);
    cw->population.n_begun++;
    if (cw->config->course != NULL) {
        client_life_forget(c);               /* a wish of its own, not the next one after another */
        c->settled |= cw->load.start_ns > 0; /* nobody waits for it */
    }
    return c;
}

bool client_population_has(const struct client_worker *cw, const struct client_conn *c)
{
    const uint32_t i = (uint32_t)(c - cw->conns), oldest = cw->population.oldest;

    return (i >= oldest ? i - oldest : i + cw->n_conns - oldest) < cw->population.n_begun;
}

static void let_go(struct client_conn *c)
{
    switch ((enum client_conn_state)c->state) {
    case CLIENT_CONN_LIVE:
        client_conn_finish(c);
        client_life_check_finished(c);
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
        client_life_stop(c);
        client_connect_not_again(c->worker, c);
        break;
    case CLIENT_CONN_NEW:
    case CLIENT_CONN_FINISHING:
        break;
    }
}

/* There is one. */
static void let_go_of_oldest(struct client_worker *cw)
{
    struct client_population *p = &cw->population;
    struct client_conn *c = &cw->conns[p->oldest];

    p->oldest = client_population_place(cw, 1);
    p->n_begun--;
    let_go(c);
}

void client_population_want(struct client_worker *cw, uint32_t n)
{
    struct client_population *p = &cw->population;

    atomic_store_explicit(&p->n_wanted, n, memory_order_relaxed);
    while (p->n_begun > n)
        let_go_of_oldest(cw);
    client_connect_more(cw);
}

static bool is_stepping(const struct client_population *p)
{
    return p->n_leaving > 0 || p->n_coming > 0;
}

static void await_step(struct client_worker *cw, uint64_t now_ns)
{
    const uint64_t next_ns = cw->population.pacer.next_ns;
    const struct timeval wait =
        clock_timeval(next_ns > now_ns + STEP_NS ? next_ns - now_ns : STEP_NS);

    worker_add_timer(&cw->population.step_event, &wait);
}

/* They come before others go: never are there fewer than wanted for it. */
static void step(struct client_worker *cw)
{
    struct client_population *p = &cw->population;

    if (p->n_leaving > 0 && (p->n_coming == 0 || p->n_begun == cw->n_conns)) {
        p->n_leaving--;
        let_go_of_oldest(cw);
    } else {
        p->n_coming--;
    }
}

static void on_step(evutil_socket_t fd, short what, void *arg)
{
    struct client_worker *cw = arg;
    struct client_population *p = &cw->population;
    const uint64_t now_ns = clock_now_ns();

    (void)fd;
    (void)what;
    for (int i = 0; i < STEP_CONNECTIONS && is_stepping(p) && p->pacer.next_ns <= now_ns; i++) {
        pacer_advance(&p->pacer);
        step(cw);
    }
    client_connect_more(cw);
    if (is_stepping(p))
        await_step(cw, now_ns);
}

static void begin_steps(struct client_worker *cw)
{
    struct client_population *p = &cw->population;
    const double per_s = cw->config->connect_rate_per_s;

    client_connect_pace(cw, &p->pacer, &p->rate, per_s > 0 ? per_s : CLIENT_POPULATION_PER_S,
                        clock_now_ns());
    on_step(-1, 0, cw);
}

void client_population_steer(struct client_worker *cw, uint32_t n)
{
    struct client_population *p = &cw->population;
    const uint32_t n_wanted = (uint32_t)tally_get(&p->n_wanted),
                   n_staying = p->n_begun - p->n_leaving;
    const bool was_stepping = is_stepping(p);

    atomic_store_explicit(&p->n_wanted, n, memory_order_relaxed);
    if (n > n_wanted) {
        p->n_coming += n - n_wanted;
        tally_add(&p->n_asked, n - n_wanted);
    } else if (n_wanted - n <= n_staying) {
        p->n_leaving += n_wanted - n;
    } else { /* those not yet begun are withdrawn */
        const uint32_t n_withdrawn = n_wanted - n - n_staying;

        p->n_leaving += n_staying;
        p->n_coming -= n_withdrawn < p->n_coming ? n_withdrawn : p->n_coming;
    }
    if (!was_stepping)
        begin_steps(cw);
}

void client_population_cancel(struct client_worker *cw)
{
    const struct outcome why = memory_watch_was_short(cw->config->memory)
                                   ? (struct outcome){PHASE_SOCKET, REASON_MEMORY}
                                   : (struct outcome){PHASE_RUN, REASON_CANCELLED};
    const uint64_t n_first =
        tally_get(&cw->tally.connections.attempted) - tally_get(&cw->tally.connections.reopened);

    tally_add(&cw->tally.connections.ended[why.phase][why.reason],
              tally_get(&cw->population.n_asked) - n_first);
    for (uint32_t i = 0; cw->records != NULL && i < cw->n_conns; i++)
        if (cw->records[i].connections == 0) {
            cw->records[i].ended_phase = (uint8_t)why.phase;
            cw->records[i].ended_reason = (uint8_t)why.reason;
        }
}
