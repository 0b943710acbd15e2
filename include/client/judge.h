/* SPDX-License-Identifier: MIT
 * client_judge: what the figures of a run are worth, and where connections are missing, why.  Makes
 * no system call. */
#ifndef TCPSCALER_CLIENT_JUDGE_H
#define TCPSCALER_CLIENT_JUDGE_H

#include "client/plan.h"
#include "client/result.h"

#include <stdbool.h>

/* Fills the input of the verdict, the doubts and the broken law of a result that is complete
 * otherwise.  required: bits of --require. */
void client_judge(struct client_result *r, const struct client_plan *plan, unsigned required);

/* Fills the diagnosis where connections or answers are missing. */
void client_diagnose(struct client_result *r, const struct client_plan *plan,
                     bool threads_are_auto);

#endif
