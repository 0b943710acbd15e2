/* SPDX-License-Identifier: MIT
 * client_population: see client_population.h. */
#include "client_population.h"

#include "client_worker.h"
#include "clock.h"

/* How often the schedule of connections is looked at: a slope is a staircase of so long steps. */
#define TICK_NS (10 * 1000000ull)

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
    tally_add(&cw->population.n_wanted, follows ? scheduled(cw, 0) : cw->n_conns);
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
}

bool client_population_has_next(const struct client_worker *cw)
{
    return cw->population.n_begun < tally_get(&cw->population.n_wanted);
}

struct client_conn *client_population_take_next(struct client_worker *cw)
{
    struct client_conn *c = &cw->conns[client_population_place(cw, cw->population.n_begun)];

    if (c->state != CLIENT_CONN_NEW) /* let go, and still awaiting its last answer */
        client_conn_close(c, (struct outcome){PHASE_RUN, REASON_FINISHED}, 0);
    cw->population.n_begun++;
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

void client_population_want(struct client_worker *cw, uint32_t n)
{
    struct client_population *p = &cw->population;

    atomic_store_explicit(&p->n_wanted, n, memory_order_relaxed);
    while (p->n_begun > n) {
        struct client_conn *c = &cw->conns[p->oldest];

        p->oldest = client_population_place(cw, 1);
        p->n_begun--;
        let_go(c);
    }
    client_connect_more(cw);
}
