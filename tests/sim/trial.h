/* SPDX-License-Identifier: MIT
 * trial: runs a scenario in a process of its own, because a violation ends the process; and
 * simplifies a scenario that violates a law. */
#ifndef TCPSCALER_SIM_TRIAL_H
#define TCPSCALER_SIM_TRIAL_H

#include "scenario.h"

#include <stdbool.h>

/* Gives this process one minute of CPU time from now on: a run that takes longer hangs. */
void trial_limit_time(void);

/* Whether the run violates a law, crashes or takes longer than a minute of CPU time.
 * prints_messages: shows what it writes to stderr. */
bool trial_fails(const struct scenario *s, bool prints_messages);

/* Moves each field of a failing scenario towards its simplest value, as far as the scenario still
 * fails. */
void trial_shrink(struct scenario *s);

#endif
