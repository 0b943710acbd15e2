/* SPDX-License-Identifier: MIT
 * client_goals: which goals of --assert a run met.  Pure. */
#ifndef TCPSCALER_CLIENT_GOALS_H
#define TCPSCALER_CLIENT_GOALS_H

#include "client/search/trial.h"

#include <stdbool.h>

enum client_goal_state {
    CLIENT_GOAL_MET,
    CLIENT_GOAL_MISSED,
    /* undecided: */
    CLIENT_GOAL_UNMEASURED, /* there was nothing to count */
    CLIENT_GOAL_TOO_FEW,    /* met by fewer than slo_values_needed() */
    CLIENT_GOAL_OWN         /* missed, but without this host's own delays perhaps not */
};

/* Filled in by client/judge_goals.h. */
struct client_goals {
    const struct slo *slo; /* as given; NULL: no goals */
    struct trial_figures figures;
    enum client_goal_state states[SLO_MOST];
};

/* Whether one of them was missed. */
bool client_goals_are_missed(const struct client_goals *goals);

/* Whether all of them were met; true without goals. */
bool client_goals_are_met(const struct client_goals *goals);

#endif
