/* SPDX-License-Identifier: MIT
 * client_judge_goals: see client/judge_goals.h. */
#include "client/judge_goals.h"

#include "client/exceeding.h"
#include "client/workers.h"

/* Queries that this host may have lost: those in flight that it did not await, one for each
 * datagram that it dropped, and where queries wait for new connections, all once it could not open
 * one. */
static uint64_t n_own_losses(const struct client_plan *plan, const struct client_result *r)
{
    const bool waits = plan->config.queries_per_conn > 0 || plan->config.on_demand;

    if (waits && client_workers_own_failures(&r->tally) > 0)
        return UINT64_MAX;
    return tally_get(&r->tally.datagrams.dropped) +
           tally_get(&r->tally.queries[TALLY_MEASURED].cancelled);
}

static enum client_goal_state state_of(const struct slo *slo, const struct trial_figures *f,
                                       unsigned goal)
{
    const struct trial_exceeding *e = &f->goals[goal];

    if (e->of == 0)
        return CLIENT_GOAL_UNMEASURED;
    if (!slo_is_met(&slo->goals[goal], e->n, e->of))
        return trial_misses_goal(slo, f, goal) ? CLIENT_GOAL_MISSED : CLIENT_GOAL_OWN;
    return e->of < slo_values_needed(&slo->goals[goal]) ? CLIENT_GOAL_TOO_FEW : CLIENT_GOAL_MET;
}

void client_judge_goals(struct client_result *r, const struct client_plan *plan,
                        const struct slo *slo)
{
    const struct tally_queries *q = &r->tally.queries[TALLY_MEASURED];
    const struct client_exceeding_input in = {
        .metrics = r->metrics,
        .over_tls = plan->config.tls != NULL,
        .own = CLIENT_OWN,
        .length_ns = r->scheduled_ns,
        .n_lost = tally_get(&q->scheduled) - tally_get(&q->answered),
        .n_own = n_own_losses(plan, r),
        .n_own_connections = client_workers_own_failures(&r->tally),
    };
    struct client_goals *goals = &r->goals;

    *goals = (struct client_goals){.slo = slo};
    goals->figures.n_due = tally_get(&q->scheduled);
    client_exceeding_count(slo, &in, &goals->figures);
    for (unsigned i = 0; i < slo->n; i++)
        goals->states[i] = state_of(slo, &goals->figures, i);
}
