/* SPDX-License-Identifier: MIT
 * report_goals: prints whether the goals of --assert were met.  Judges nothing. */
#ifndef TCPSCALER_CLIENT_REPORT_GOALS_H
#define TCPSCALER_CLIENT_REPORT_GOALS_H

#include "base/json.h"
#include "client/goals.h"

#include <stdio.h>

#define REPORT_GOAL_BYTES 256

/* One line about goal i, without a newline: "p99<5ms missed: 1,204 of 100,827 queries took longer
 * or were lost (1.19 %)".  Returns text, which has REPORT_GOAL_BYTES. */
const char *report_goal(char *text, const struct client_goals *goals, unsigned i);

/* A line for each; nothing without goals. */
void report_goals_text(FILE *out, const struct client_goals *goals);

/* The key "goals": null without goals, or before the end of the run. */
void report_goals_json(struct json *j, const struct client_goals *goals);

#endif
