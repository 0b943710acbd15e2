/* SPDX-License-Identifier: MIT
 * client_choice: see client/worker/select.h. */
#include "client/worker/select.h"

#include "client/worker/worker.h"

/* Random tries to find another usable connection before looking at each. */
enum { REROUTE_TRIES = 64 };

/* Streams of the seed, one per worker each; those below are the pacer's and of arrivals. */
enum { STREAM_SELECT = (1 << 20) + 1, STREAM_REROUTE = 1 << 21 };

void client_choice_init(struct client_worker *cw)
{
    struct client_choice *choice = &cw->choice;

    rng_seed(&choice->rng, cw->config->seed, STREAM_SELECT + cw->worker.index);
    rng_seed(&choice->reroute_rng, cw->config->seed, STREAM_REROUTE + cw->worker.index);
}

static uint32_t make_another(struct client_worker *cw)
{
    struct rng *rng = &cw->choice.reroute_rng;
    uint32_t i = 0;

    if (tally_get(&cw->n_live) == 0)
        return CLIENT_CHOICE_NONE;
    if (cw->lives.places != NULL)
        return cw->lives.usable[rng_below(rng, cw->lives.n_usable)];
    for (int tries = 0; tries < REROUTE_TRIES; tries++) {
        i = rng_below(rng, cw->n_conns);
        if (client_conn_is_usable(&cw->conns[i]))
            return i;
    }
    while (!client_conn_is_usable(&cw->conns[i]))
        i = (i + 1) % cw->n_conns;
    return i;
}

/* Of fewer connections than there are places for, which come and go. */
static uint32_t choose_begun(struct client_worker *cw)
{
    struct client_choice *choice = &cw->choice;
    const uint32_t n = cw->population.n_begun, next = choice->next_round_robin;

    if (cw->config->select == CLIENT_SELECT_RANDOM)
        return client_population_place(cw, rng_below(&choice->rng, n));
    choice->next_round_robin = next + 1 < n ? next + 1 : 0;
    return client_population_place(cw, next < n ? next : 0);
}

uint32_t client_choice_make(struct client_worker *cw, uint32_t chosen, bool *rerouted)
{
    uint32_t i = chosen - cw->first_conn;

    *rerouted = false;
    if (cw->population.n_begun == 0)
        return CLIENT_CHOICE_NONE;
    if (cw->population.n_begun < cw->n_conns)
        i = choose_begun(cw);
    if (i < cw->n_conns && client_conn_is_usable(&cw->conns[i]))
        return i;
    i = make_another(cw);
    *rerouted = i != CLIENT_CHOICE_NONE;
    return i;
}
