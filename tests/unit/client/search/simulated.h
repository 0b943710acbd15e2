/* SPDX-License-Identifier: MIT
 * simulated: searches of servers that exist only as a function from load to outcome. */
#ifndef TCPSCALER_TEST_SIMULATED_H
#define TCPSCALER_TEST_SIMULATED_H

#include "base/rng.h"
#include "client/search/search.h"

#include <stdlib.h>
#include <string.h>

#define S_NS        1000000000ull
#define OVERHEAD_NS 700000000ull

/* 10 to 100,000 queries/s, to 2 %, within seven minutes: enough for three
 * confirmations.  limit: of the service level, in ns. */
#define SIMULATED_CONFIG(limit)                                                                    \
    {                                                                                              \
        .min = 10, .max = 100000, .width = 0.02, .time_ns = 420 * S_NS, .queries = 10000,          \
        .limit_ns = (limit), .overhead_ns = OVERHEAD_NS, .tries_recovery = true                    \
    }

struct simulated {
    /* Whether a trial of this load and duration is good; it may remember what came before. */
    struct trial_judgment (*trial)(struct simulated *server, double load, double duration_s);
    double capacity; /* what the search is to find */
    double p_noise;  /* share of the trials that noise makes bad */
    double
        client_most; /* above this load the client decides, and trials are void; 0: it never does */
    double failed_part; /* of its length after which a bad confirmation ends; 0: all of it */
    uint64_t recovery_ns;
    double now_s;          /* when the trial begins */
    enum search_step step; /* of the trial */
    double recovers_s;     /* of a server that fails for a while after an overload: until then */
    struct rng rng;
};

static const struct trial_judgment GOOD = {TRIAL_GOOD, TRIAL_NO_REASON, 0};
static const struct trial_judgment BAD = {TRIAL_BAD, TRIAL_GOAL, 0};
static const struct trial_judgment VOID = {TRIAL_VOID, TRIAL_HOST_NOISE, 0};

static inline struct trial_judgment simulated_trial(struct simulated *server,
                                                    const struct search_order *order)
{
    struct trial_judgment judgment;

    server->step = order->step;
    judgment = server->trial(server, order->load, (double)order->duration_ns / (double)S_NS);
    if (server->client_most > 0 && order->load > server->client_most)
        return VOID;
    return rng_uniform(&server->rng) < server->p_noise ? BAD : judgment;
}

/* Takes the outcome of a trial that began after elapsed_ns.  Returns when it is over. */
static inline uint64_t simulated_take(struct search *s, const struct search_order *order,
                                      struct simulated *server, uint64_t elapsed_ns)
{
    struct trial_judgment judgment;
    uint64_t measured_ns = order->duration_ns;

    server->now_s = (double)elapsed_ns / (double)S_NS;
    judgment = simulated_trial(server, order);
    if (order->step == SEARCH_CONFIRM && judgment.reason == TRIAL_GOAL && server->failed_part > 0) {
        measured_ns = (uint64_t)(server->failed_part * (double)measured_ns);
        search_ended_early(s, measured_ns);
    }
    search_take(s, judgment);
    return elapsed_ns + measured_ns + OVERHEAD_NS;
}

/* Searches to the end.  Returns how long that took. */
static inline uint64_t simulated_search(struct search *s, const struct search_config *config,
                                        struct simulated *server)
{
    struct search_order order;
    uint64_t elapsed_ns = 0;

    search_init(s, config);
    while (search_next(s, elapsed_ns, &order)) {
        if (order.step == SEARCH_RECOVER) {
            search_take_recovery(s, server->recovery_ns);
            elapsed_ns +=
                server->recovery_ns < order.duration_ns ? server->recovery_ns : order.duration_ns;
        } else {
            elapsed_ns = simulated_take(s, &order, server, elapsed_ns);
        }
    }
    return elapsed_ns;
}

/* Searches up to the first order of a step, which is left in *order.  Returns the time. */
static inline uint64_t simulated_up_to(struct search *s, const struct search_config *config,
                                       enum search_step step, struct simulated *server,
                                       struct search_order *order)
{
    uint64_t elapsed_ns = 0;

    search_init(s, config);
    while (search_next(s, elapsed_ns, order) && order->step != step) {
        search_take(s, simulated_trial(server, order));
        elapsed_ns += order->duration_ns + OVERHEAD_NS;
    }
    if (s->status != SEARCH_RUNNING)
        abort(); /* there was none */
    return elapsed_ns;
}

/* Searches of each kind of server: 100, or SEARCHES in the environment. */
static inline unsigned simulated_n_searches(void)
{
    const char *text = getenv("SEARCHES");

    return text != NULL ? (unsigned)atoi(text) : 100;
}

/* Good up to the capacity and bad above it. */
static inline struct trial_judgment simulated_cliff(struct simulated *server, double load,
                                                    double duration_s)
{
    (void)duration_s;
    return load <= server->capacity ? GOOD : BAD;
}

/* It sustains every load up to its capacity and none above. */
static inline struct simulated simulated_with_cliff(double capacity)
{
    return (struct simulated){.trial = simulated_cliff, .capacity = capacity, .recovery_ns = S_NS};
}

/* Trials of one step. */
static inline size_t simulated_count(const struct search *s, enum search_step step)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->trials[i].order.step == step;
    return n;
}

#endif
