/* SPDX-License-Identifier: MIT
 * client_judge_goals: judges whether a run met the goals of --assert.  Makes no system calls.
 *
 * Goals are judged as those of a search are (client/search/slo.h, client/search/trial.h): by
 * counting what exceeds a limit.  What this host delayed or lost itself decides nothing. */
#ifndef TCPSCALER_CLIENT_JUDGE_GOALS_H
#define TCPSCALER_CLIENT_JUDGE_GOALS_H

#include "client/plan.h"
#include "client/result.h"

/* Fills in result->goals of a run that has ended.  slo must outlive the result. */
void client_judge_goals(struct client_result *result, const struct client_plan *plan,
                        const struct slo *slo);

#endif
