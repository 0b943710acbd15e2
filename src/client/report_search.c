/* SPDX-License-Identifier: MIT
 * report_search: see client/report_search.h. */
#include "client/report_search.h"

#include "client/find_bound.h"
#include "client/search/search_binding.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

const char *report_search_unit(const struct client_find *f)
{
    return client_find_settings_unit(f->settings->what);
}

enum search_reason report_search_cut_by(const struct client_find *f)
{
    const bool has_answer = f->search.status == SEARCH_FOUND || f->search.status == SEARCH_AT_LEAST;

    return has_answer ? f->search.cut_by : SEARCH_NO_REASON;
}

/* Below it, a search distinguishes fractions of a unit. */
#define LEAST_WHOLE 1000

const char *report_search_load(char *text, double load)
{
    if (load >= LEAST_WHOLE - 0.05 || load == floor(load)) /* "%.4g" has no separator */
        return units_format_count(text, (uint64_t)(load + 0.5));
    snprintf(text, UNITS_TEXT_BYTES, "%.4g", load);
    return text;
}

bool report_search_is_judged(const struct search_trial *t)
{
    return t->order.step != SEARCH_OVERLOAD;
}

const char *report_search_reason(const struct client_find *f, const struct search_trial *t)
{
    return report_search_is_judged(t)
               ? trial_reason_name(&f->settings->slo, t->judgment.reason, t->judgment.goal)
               : NULL;
}

/* Returns what limited a load; a goal in doubt counts, too. */
static const char *limit_name(const struct client_find *f, const struct trial_judgment *j)
{
    const enum trial_reason reason = j->reason == TRIAL_IN_DOUBT ? TRIAL_GOAL : j->reason;

    return trial_reason_name(&f->settings->slo, reason, j->goal);
}

const char *report_search_binding(const struct client_find *f)
{
    const struct search *s = &f->search;
    const struct trial_judgment *binding;

    for (size_t i = s->n; s->reason == SEARCH_UNCONFIRMED && i-- > 0;)
        if (s->trials[i].order.step == SEARCH_CONFIRM && s->trials[i].judgment.class == TRIAL_BAD)
            return limit_name(f, &s->trials[i].judgment);
    binding = search_binding(s, client_find_deciding_load(f),
                             s->reason == SEARCH_VOID ? TRIAL_VOID : TRIAL_BAD);
    return binding != NULL ? limit_name(f, binding) : NULL;
}
