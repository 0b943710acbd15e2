/* SPDX-License-Identifier: MIT
 * client_life: see client/worker/slots.h. */
#include "client/worker/slots.h"

#include "base/clock.h"
#include "client/worker/worker.h"

#include <stdlib.h>

/* Of the seed; those below are client_load's and the pacer's. */
enum { STREAM_BACKOFF = 1 << 22 };

int client_life_init(struct client_worker *cw)
{
    const struct client_config *config = cw->config;

    if (config->queries_per_conn == 0 && !config->reconnect && config->population.n == 0 &&
        config->course == NULL)
        return 0;
    rng_seed(&cw->lives.rng, config->seed, STREAM_BACKOFF + cw->worker.index);
    cw->lives.places = calloc(cw->n_conns, sizeof *cw->lives.places);
    cw->lives.usable = calloc(cw->n_conns, sizeof *cw->lives.usable);
    if (cw->lives.places == NULL || cw->lives.usable == NULL)
        return -1;
    return hist_init(&cw->gaps);
}

void client_life_free(struct client_worker *cw)
{
    free(cw->lives.places);
    free(cw->lives.usable);
}

struct client_life *client_life_of(const struct client_conn *c)
{
    struct client_life *places = c->worker->lives.places;

    return places != NULL ? &places[c - c->worker->conns] : NULL;
}

void client_life_begin(struct client_conn *c)
{
    struct client_life *life = client_life_of(c);

    life->n_queries = 0;
    life->tuple = CLIENT_LIFE_NO_TUPLE;
    if (life->n_begun++ > 0)
        tally_add(&c->worker->tally.connections.reopened, 1);
}

void client_life_forget(struct client_conn *c)
{
    struct client_life *life = client_life_of(c);

    life->n_begun = 0;
    life->n_failures = 0;
}

void client_life_usable(struct client_conn *c)
{
    struct client_lives *lives = &c->worker->lives;
    struct client_life *life = client_life_of(c);

    life->n_failures = 0;
    life->position = lives->n_usable;
    lives->usable[lives->n_usable++] = (uint32_t)(c - c->worker->conns);
    if (life->ended_ns != 0)
        hist_record(&c->worker->gaps, clock_now_ns() - life->ended_ns);
}

/* The last one takes its position. */
void client_life_unusable(struct client_conn *c)
{
    struct client_lives *lives = &c->worker->lives;
    const uint32_t position = client_life_of(c)->position, last = lives->usable[--lives->n_usable];

    lives->usable[position] = last;
    lives->places[last].position = position;
}

void client_life_give(struct client_conn *c)
{
    const uint64_t most = c->worker->config->queries_per_conn;

    if (++client_life_of(c)->n_queries == most)
        client_conn_finish(c);
}

void client_life_check_finished(struct client_conn *c)
{
    if (c->queries.head == INFLIGHT_NONE)
        client_conn_close(c, (struct outcome){PHASE_RUN, REASON_FINISHED}, 0);
}

static void on_wait_over(evutil_socket_t fd, short what, void *arg)
{
    struct client_conn *c = arg;

    (void)fd;
    (void)what;
    client_connect_again(c->worker, c);
}

static void begin_after_wait(struct client_conn *c, uint32_t n_failures)
{
    struct client_worker *cw = c->worker;
    const struct timeval wait =
        clock_timeval(backoff_wait_ns(&cw->config->backoff, n_failures, &cw->lives.rng));

    evtimer_assign(&c->event, cw->worker.base, on_wait_over, c);
    if (event_add(&c->event, &wait) != 0)
        client_connect_again(cw, c);
}

void client_life_end(struct client_conn *c, struct outcome outcome)
{
    struct client_worker *cw = c->worker;
    struct client_life *life = client_life_of(c);

    if (life->tuple != CLIENT_LIFE_NO_TUPLE)
        srccursor_give_back(&cw->connect.tuples, life->tuple);
    life->ended_ns = 0;
    if (cw->connect.stopped || !client_population_has(cw, c))
        return;
    life->ended_ns = clock_now_ns();
    if (outcome.phase == PHASE_RUN && outcome.reason == REASON_FINISHED)
        client_connect_again(cw, c);
    else if (cw->config->reconnect)
        begin_after_wait(c, ++life->n_failures);
}

void client_life_stop(struct client_conn *c)
{
    if (c->state == CLIENT_CONN_ENDED && event_initialized(&c->event))
        event_del(&c->event);
}
