/* SPDX-License-Identifier: MIT
 * arrivals: see workload/arrivals.h. */
#include "workload/arrivals.h"

/* Random stream of the seed; the pacer uses those below. */
enum { STREAM_SELECT = 1 << 20 };

uint32_t arrivals_first_connection(uint32_t n_connections, uint32_t n_workers, uint32_t worker)
{
    const uint32_t each = n_connections / n_workers, rest = n_connections % n_workers;

    return worker * each + (worker < rest ? worker : rest);
}

static uint32_t worker_of(const struct arrivals_config *c, uint32_t connection)
{
    const uint32_t each = c->n_connections / c->n_workers, rest = c->n_connections % c->n_workers;
    const uint32_t n_larger = rest * (each + 1);

    return connection < n_larger ? connection / (each + 1) : rest + (connection - n_larger) / each;
}

static uint32_t greatest_common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        const uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Coprime to n, so that the steps visit every connection. */
static uint32_t golden_step(uint32_t n)
{
    uint32_t step = (uint32_t)(0.61803398874989485 * n);

    while (greatest_common_divisor(step, n) != 1)
        step++;
    return step;
}

static void choose(struct arrivals *a)
{
    const uint32_t n = a->config.n_connections;

    if (a->config.random)
        a->connection = rng_below(&a->rng, n);
    else
        a->connection = (uint32_t)(((uint64_t)a->connection + a->step) % n);
}

/* Returns whether the arrival is for this worker.  Arrivals of connections without a worker are
 * distributed in turn. */
static bool claim(struct arrivals *a)
{
    if (a->connection >= a->first && a->connection < a->end)
        return true;
    if (a->n_takers == a->config.n_workers || a->config.takes[worker_of(&a->config, a->connection)])
        return false;
    return a->n_ownerless++ % a->n_takers == a->taker;
}

static uint64_t choose_ours(struct arrivals *a)
{
    uint64_t n = 0;

    do {
        choose(a);
        n++;
    } while (!claim(a));
    return n;
}

uint64_t arrivals_start(struct arrivals *a, const struct arrivals_config *config, uint64_t start_ns)
{
    const struct pacer_config pacing = {
        .arrival = config->arrival,
        .segments = config->segments,
        .n_segments = config->n_segments,
        .none_at_start = config->none_at_start,
        .part = config->part,
        .n_connections = config->n_connections,
        .n_workers = 1,
        .seed = config->seed,
    };
    uint64_t n;

    *a = (struct arrivals){.config = *config, .step = golden_step(config->n_connections)};
    a->first = arrivals_first_connection(config->n_connections, config->n_workers, config->worker);
    a->end =
        arrivals_first_connection(config->n_connections, config->n_workers, config->worker + 1);
    a->connection = config->n_connections - a->step; /* round-robin: connection 0 comes first */
    for (uint32_t w = 0; w < config->n_workers; w++) {
        const bool takes = config->takes == NULL || config->takes[w];

        a->taker += w < config->worker && takes;
        a->n_takers += takes;
    }
    rng_seed(&a->rng, config->seed, STREAM_SELECT);
    pacer_start(&a->pacer, &pacing, start_ns);
    n = choose_ours(a);
    pacer_advance_by(&a->pacer, n - 1);
    return n;
}

uint64_t arrivals_advance(struct arrivals *a)
{
    const uint64_t n = choose_ours(a);

    pacer_advance_by(&a->pacer, n);
    return n;
}
