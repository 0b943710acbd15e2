/* SPDX-License-Identifier: MIT
 * search_binding: see client/search/search_binding.h. */
#include "client/search/search_binding.h"

#include "client/search/search_round.h"

#include <stddef.h>

static bool is_of(const struct search_trial *t, double load, enum trial_class class)
{
    return (search_round_counts(t) || t->order.step == SEARCH_CONFIRM) && t->order.load == load &&
           t->judgment.class == class;
}

const struct trial_judgment *search_binding(const struct search *s, double load,
                                            enum trial_class class)
{
    const struct trial_judgment *binding = NULL;
    unsigned most = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct trial_judgment *j = &s->trials[i].judgment;
        unsigned n = 0;

        if (!is_of(&s->trials[i], load, class))
            continue;
        for (size_t k = 0; k < s->n; k++)
            n += is_of(&s->trials[k], load, class) && s->trials[k].judgment.reason == j->reason &&
                 s->trials[k].judgment.goal == j->goal;
        if (n > most) {
            most = n;
            binding = j;
        }
    }
    return binding;
}
