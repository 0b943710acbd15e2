/* SPDX-License-Identifier: MIT
 * report_goals: see client/report_goals.h. */
#include "client/report_goals.h"

#include "base/units.h"

#define LEAST_PERCENT 1e-4 /* %g prints less with an exponent */

static const char *result_name(enum client_goal_state state)
{
    return state == CLIENT_GOAL_MET ? "met" : state == CLIENT_GOAL_MISSED ? "missed" : "undecided";
}

/* Why it is undecided; NULL: it is not. */
static const char *why_name(enum client_goal_state state)
{
    static const char *const names[] = {
        [CLIENT_GOAL_UNMEASURED] = "nothing-measured",
        [CLIENT_GOAL_TOO_FEW] = "too-few",
        [CLIENT_GOAL_OWN] = "own-delays",
    };

    return names[state];
}

static uint64_t n_own(const struct trial_exceeding *e)
{
    return e->own < e->n ? e->own : e->n;
}

/* "1,204 of 100,827 queries took longer or were lost (1.19 %)" */
static void print_counts(FILE *out, enum slo_metric metric, const struct trial_exceeding *e)
{
    const double percent = 100 * (double)e->n / (double)e->of;
    const uint64_t n_verb = e->of == 1 ? 1 : e->n; /* "0 of 1 query was lost" */
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    fprintf(out, "%s of %s %s %s", units_format_count(a, e->n), units_format_count(b, e->of),
            metric == SLO_CONNECT ? units_noun(e->of, "connection", "connections")
                                  : units_noun(e->of, "query", "queries"),
            metric == SLO_LOST ? units_noun(n_verb, "was lost", "were lost")
            : metric == SLO_CONNECT
                ? "took longer or failed"
                : units_noun(n_verb, "took longer or was lost", "took longer or were lost"));
    if (e->n > 0 && percent < LEAST_PERCENT)
        fprintf(out, " (below %g %%)", LEAST_PERCENT);
    else
        fprintf(out, " (%.3g %%)", 100 * units_round_share(percent / 100, 3));
}

/* Why it is in doubt that the server or the path is to blame. */
static void print_own(FILE *out, const struct client_goals *goals, unsigned i)
{
    const struct slo_goal *goal = &goals->slo->goals[i];
    const struct trial_exceeding *e = &goals->figures.goals[i];
    char a[UNITS_TEXT_BYTES];

    if (goal->metric == SLO_LOST && !slo_is_met(goal, e->n - n_own(e), e->of))
        fprintf(out, "; this host delayed %s %s, which may have caused losses",
                units_format_count(a, goals->figures.n_behind),
                units_noun(goals->figures.n_behind, "query", "queries"));
    else
        fprintf(out, "; this host itself may have delayed or lost %s of them",
                units_format_count(a, n_own(e)));
}

static void print_why(FILE *out, const struct client_goals *goals, unsigned i)
{
    const struct slo_goal *goal = &goals->slo->goals[i];
    char a[UNITS_TEXT_BYTES];

    if (goals->states[i] == CLIENT_GOAL_TOO_FEW)
        fprintf(out, "; at least %s are needed to tell",
                units_format_count(a, slo_values_needed(goal)));
    if (goals->states[i] == CLIENT_GOAL_OWN)
        print_own(out, goals, i);
}

const char *report_goal(char *text, const struct client_goals *goals, unsigned i)
{
    const struct slo_goal *goal = &goals->slo->goals[i];
    const struct trial_exceeding *e = &goals->figures.goals[i];
    FILE *out = fmemopen(text, REPORT_GOAL_BYTES, "w");

    text[0] = '\0';
    if (out == NULL)
        return text;
    fprintf(out, "%s %s: ", goal->text, result_name(goals->states[i]));
    if (e->of == 0)
        fputs("nothing was measured", out);
    else
        print_counts(out, goal->metric, e);
    print_why(out, goals, i);
    fclose(out);
    return text;
}

void report_goals_text(FILE *out, const struct client_goals *goals)
{
    char text[REPORT_GOAL_BYTES];

    for (unsigned i = 0; goals->slo != NULL && i < goals->slo->n; i++)
        fprintf(out, "%-13s%s\n", i == 0 ? "Goals" : "", report_goal(text, goals, i));
}

void report_goals_json(struct json *j, const struct client_goals *goals)
{
    if (goals->slo == NULL) {
        json_null(j, "goals");
        return;
    }
    json_array_begin(j, "goals");
    for (unsigned i = 0; i < goals->slo->n; i++) {
        const struct trial_exceeding *e = &goals->figures.goals[i];

        json_object_begin(j, NULL);
        json_string(j, "goal", goals->slo->goals[i].text);
        json_string(j, "result", result_name(goals->states[i]));
        json_string(j, "why", why_name(goals->states[i]));
        json_u64(j, "exceeding", e->n);
        json_u64(j, "of", e->of);
        json_u64(j, "own", n_own(e));
        json_object_end(j);
    }
    json_array_end(j);
}
