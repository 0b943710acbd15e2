/* SPDX-License-Identifier: MIT
 * client_judge: judges the validity of a run and diagnoses missing connections.  Makes no system
 * calls. */
#ifndef TCPSCALER_CLIENT_JUDGE_H
#define TCPSCALER_CLIENT_JUDGE_H

#include "client/plan.h"
#include "client/result.h"

#include <stdbool.h>

/* Fills in the verdict, the doubts and the broken law of a result that is otherwise complete.
 * required: index of the percentile that --require names, among VERDICT_PERCENTILES. */
void client_judge(struct client_result *r, const struct client_plan *plan, unsigned required);

/* Fills in the diagnosis if connections or answers are missing. */
void client_diagnose(struct client_result *r, const struct client_plan *plan,
                     bool threads_are_auto);

/* Returns the law of the classes that their figures break, or NULL. */
const char *client_judge_classes(const struct client_result *result, uint32_t n_classes);

#endif
