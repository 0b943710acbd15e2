/* SPDX-License-Identifier: MIT
 * client_judge_goals: see client/judge_goals.h. */
#include "client/judge_goals.h"

#include "client/workers.h"

/* How far a connection has to get for the goals on connecting. */
static const struct hist *connecting(const struct client_plan *plan, const struct client_result *r)
{
    return &r->metrics[plan->config.tls != NULL ? CLIENT_DUE_SECURED : CLIENT_DUE_CONNECTED];
}

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

static struct trial_exceeding lost(const struct client_plan *plan, const struct client_result *r)
{
    const struct tally_queries *q = &r->tally.queries[TALLY_MEASURED];

    return (struct trial_exceeding){
        .n = tally_get(&q->scheduled) - tally_get(&q->answered),
        .of = tally_get(&q->scheduled),
        .own = n_own_losses(plan, r),
    };
}

/* n_own_losses + delays, without wrapping around. */
static struct trial_exceeding later(const struct hist *times, const struct hist *own_delays,
                                    uint64_t limit_ns, uint64_t n_own)
{
    const uint64_t n_delayed = hist_count_above(own_delays, limit_ns / TRIAL_OWN_PART);

    return (struct trial_exceeding){
        .n = hist_count_above(times, limit_ns),
        .of = times->count + times->beyond,
        .own = n_own > UINT64_MAX - n_delayed ? UINT64_MAX : n_own + n_delayed,
    };
}

static struct trial_exceeding exceeding(const struct client_plan *plan,
                                        const struct client_result *r, const struct slo_goal *goal)
{
    switch (goal->metric) {
    case SLO_LOST:
        return lost(plan, r);
    case SLO_CONNECT:
        return later(connecting(plan, r), &r->metrics[CLIENT_OPEN_LAG], goal->limit_ns,
                     client_workers_own_failures(&r->tally));
    case SLO_SERVICE:
        return later(&r->metrics[CLIENT_SERVICE], &r->metrics[CLIENT_OWN], goal->limit_ns,
                     n_own_losses(plan, r));
    case SLO_RESPONSE:
        break;
    }
    return later(&r->metrics[CLIENT_RESPONSE], &r->metrics[CLIENT_OWN], goal->limit_ns,
                 n_own_losses(plan, r));
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
    struct client_goals *goals = &r->goals;

    *goals = (struct client_goals){.slo = slo};
    goals->figures.n_due = tally_get(&r->tally.queries[TALLY_MEASURED].scheduled);
    goals->figures.n_behind =
        hist_count_above(&r->metrics[CLIENT_OWN], r->scheduled_ns / TRIAL_BEHIND_PART);
    for (unsigned i = 0; i < slo->n; i++)
        goals->figures.goals[i] = exceeding(plan, r, &slo->goals[i]);
    for (unsigned i = 0; i < slo->n; i++)
        goals->states[i] = state_of(slo, &goals->figures, i);
}
