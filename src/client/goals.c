/* SPDX-License-Identifier: MIT
 * client_goals: see client/goals.h. */
#include "client/goals.h"

#include <stddef.h>

bool client_goals_are_missed(const struct client_goals *goals)
{
    for (unsigned i = 0; goals->slo != NULL && i < goals->slo->n; i++)
        if (goals->states[i] == CLIENT_GOAL_MISSED)
            return true;
    return false;
}

bool client_goals_are_met(const struct client_goals *goals)
{
    for (unsigned i = 0; goals->slo != NULL && i < goals->slo->n; i++)
        if (goals->states[i] != CLIENT_GOAL_MET)
            return false;
    return true;
}
