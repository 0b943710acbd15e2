/* SPDX-License-Identifier: MIT
 * trial: see client/search/trial.h. */
#include "client/search/trial.h"

#include <math.h>
#include <stddef.h>

/* This host may delay one query in this many. */
#define BEHIND_ONE_IN 10u

/* Standard deviations above the mean: about one trial in 10,000 has more queries than that. */
#define MOST_DEVIATIONS 4

static bool is_behind(const struct trial_figures *f)
{
    return f->n_behind > f->n_due / BEHIND_ONE_IN;
}

bool trial_misses_goal(const struct slo *slo, const struct trial_figures *f, unsigned goal)
{
    const struct trial_exceeding *e = &f->goals[goal];
    const uint64_t n_others = e->own < e->n ? e->n - e->own : 0;

    if (slo->goals[goal].metric == SLO_LOST && is_behind(f))
        return false;
    return !slo_is_met(&slo->goals[goal], n_others > e->far ? n_others : e->far, e->of);
}

/* Returns the ratio to the allowed share; very large if the goal allows none. */
static double excess(const struct slo_goal *goal, const struct trial_exceeding *e)
{
    const double allowed = (double)goal->share_ppm / 1e6 * (double)e->of;

    return (double)e->n / (allowed > 0 ? allowed : 1e-9);
}

/* Returns the goal missed by the widest margin, among those certainly missed or among all; slo->n:
 * none. */
static unsigned worst_missed(const struct slo *slo, const struct trial_figures *f, bool certain)
{
    unsigned worst = slo->n;

    for (unsigned i = 0; i < slo->n; i++) {
        const struct slo_goal *goal = &slo->goals[i];
        const struct trial_exceeding *e = &f->goals[i];

        if (!slo_is_met(goal, e->n, e->of) && (!certain || trial_misses_goal(slo, f, i)) &&
            (worst == slo->n || excess(goal, e) > excess(&slo->goals[worst], &f->goals[worst])))
            worst = i;
    }
    return worst;
}

struct trial_judgment trial_judge(const struct slo *slo, const struct trial_figures *f)
{
    const unsigned certain = worst_missed(slo, f, true), missed = worst_missed(slo, f, false);

    if (f->n_due == 0)
        return (struct trial_judgment){TRIAL_VOID, TRIAL_NOTHING_MEASURED, 0};
    if (certain < slo->n)
        return (struct trial_judgment){TRIAL_BAD, TRIAL_GOAL, certain};
    if (missed < slo->n && f->n_not_opened > 0)
        return (struct trial_judgment){TRIAL_VOID, TRIAL_NOT_OPENED, 0};
    if (is_behind(f))
        return (struct trial_judgment){TRIAL_VOID, TRIAL_GENERATOR_LIMITED, 0};
    if (f->grew)
        return (struct trial_judgment){TRIAL_BAD, TRIAL_QUEUE, 0};
    if (missed < slo->n)
        return (struct trial_judgment){TRIAL_VOID, TRIAL_HOST_NOISE, missed};
    return (struct trial_judgment){TRIAL_GOOD, TRIAL_NO_REASON, 0};
}

/* Returns the first goal that the trial may have met by chance; slo->n: none. */
static unsigned first_in_doubt(const struct slo *slo, const struct trial_figures *f)
{
    for (unsigned i = 0; i < slo->n; i++) {
        const struct trial_exceeding *e = &f->goals[i];
        const double of = (double)e->of, most = (double)e->n + e->error * of;

        if (most > (double)slo->goals[i].share_ppm / 1e6 * of)
            return i;
    }
    return slo->n;
}

struct trial_judgment trial_judge_proof(const struct slo *slo, const struct trial_figures *f)
{
    const struct trial_judgment judgment = trial_judge(slo, f);
    const unsigned doubted = first_in_doubt(slo, f);

    return judgment.class == TRIAL_GOOD && doubted < slo->n
               ? (struct trial_judgment){TRIAL_BAD, TRIAL_IN_DOUBT, doubted}
               : judgment;
}

uint64_t trial_most_queries(double mean)
{
    return (uint64_t)(mean + MOST_DEVIATIONS * sqrt(mean)) + 1;
}

/* Returns the figures of a trial of n_all queries, of which the others meet every goal. */
static struct trial_figures of_whole(const struct slo *slo, const struct trial_figures *f,
                                     uint64_t n_all)
{
    struct trial_figures whole = *f;

    for (unsigned i = 0; i < slo->n; i++)
        if (whole.goals[i].of < n_all)
            whole.goals[i].of = n_all;
    return whole;
}

bool trial_is_lost(const struct slo *slo, const struct trial_figures *f, uint64_t n_all)
{
    const struct trial_figures whole = of_whole(slo, f, n_all);

    return worst_missed(slo, &whole, true) < slo->n;
}

bool trial_is_void(const struct slo *slo, const struct trial_figures *f, uint64_t n_all)
{
    struct trial_figures whole = of_whole(slo, f, n_all);
    struct trial_judgment judgment;

    if (whole.n_due < n_all)
        whole.n_due = n_all;
    judgment = trial_judge(slo, &whole);
    return trial_judge(slo, f).class == TRIAL_VOID && judgment.class == TRIAL_VOID &&
           judgment.reason != TRIAL_HOST_NOISE;
}

const char *trial_class_name(enum trial_class class)
{
    static const char *const names[] = {"good", "bad", "void"};

    _Static_assert(sizeof names / sizeof *names == TRIAL_N_CLASSES, "one for each");
    return names[class];
}

const char *trial_reason_name(const struct slo *slo, enum trial_reason reason, unsigned goal)
{
    switch (reason) {
    case TRIAL_GOAL:
        return slo->goals[goal].text;
    case TRIAL_QUEUE:
        return "queue";
    case TRIAL_IN_DOUBT:
        return "in-doubt";
    case TRIAL_CONNECTIONS:
        return "connections";
    case TRIAL_NOT_OPENED:
        return "not-opened";
    case TRIAL_GENERATOR_LIMITED:
        return "generator-limited";
    case TRIAL_HOST_NOISE:
        return "host-noise";
    case TRIAL_NOTHING_MEASURED:
        return "nothing-measured";
    case TRIAL_NO_REASON:
        break;
    }
    return NULL;
}
