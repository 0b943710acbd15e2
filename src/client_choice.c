/* SPDX-License-Identifier: MIT
 * client_choice: see client_choice.h. */
#include "client_choice.h"

#include "client_worker.h"

/* Random tries to find another usable connection before looking at each. */
enum { REROUTE_TRIES = 64 };

/* Streams of the seed, one per worker each; those below are the pacer's. */
enum { STREAM_SELECT = 1 << 20, STREAM_REROUTE = 1 << 21 };

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

uint32_t client_choice_make(struct client_worker *cw, bool *rerouted)
{
    struct client_choice *choice = &cw->choice;
    const uint32_t n = cw->population.n_begun, next = choice->next_round_robin;
    uint32_t i;

    *rerouted = false;
    if (n == 0)
        return CLIENT_CHOICE_NONE;
    if (cw->config->select == CLIENT_SELECT_RANDOM) {
        i = client_population_place(cw, rng_below(&choice->rng, n));
    } else {
        i = client_population_place(cw, next < n ? next : 0);
        choice->next_round_robin = next + 1 < n ? next + 1 : 0;
    }
    if (client_conn_is_usable(&cw->conns[i]))
        return i;
    i = make_another(cw);
    *rerouted = i != CLIENT_CHOICE_NONE;
    return i;
}
