/* SPDX-License-Identifier: MIT
 * client_judge: judges the validity of a run.  Makes no system calls. */
#ifndef TCPSCALER_CLIENT_JUDGE_H
#define TCPSCALER_CLIENT_JUDGE_H

#include "client/plan.h"
#include "client/result.h"

/* Fills in the verdict, the doubts and the broken law of a result that is otherwise complete.
 * required: index of the percentile that --require names, among VERDICT_PERCENTILES. */
void client_judge(struct client_result *r, const struct client_plan *plan, unsigned required);

#endif
