/* SPDX-License-Identifier: MIT
 * client_plan_schedule: how many connections a run has and how many queries it sends, over time.
 * Reads the schedules of the options.  Main thread. */
#ifndef TCPSCALER_CLIENT_PLAN_SCHEDULE_H
#define TCPSCALER_CLIENT_PLAN_SCHEDULE_H

#include "client/opts.h"
#include "client/worker/config.h"

/* Sets config->n_connections, the maximum, and with --conn-schedule config->population.  Returns 0,
 * or -1 after one line on stderr. */
int client_plan_population(struct client_config *config, const struct client_opts *o);

/* Sets config->schedule, warmup_ns and duration_ns; requires config->population.  *rate_qps: the
 * requested mean rate of the measurement; 0: none.  Returns 0, or -1 after one line on stderr. */
int client_plan_schedule(struct client_config *config, double *rate_qps,
                         const struct client_opts *o);

/* Returns the highest rate (queries per second) that can be requested; requires config->schedule.
 */
double client_plan_peak_qps(const struct client_config *config, const struct client_opts *o);

/* Returns how many connections per second are replaced by design, at most; 0: none.  rate_qps: from
 * client_plan_schedule(). */
double client_plan_churn_per_s(const struct client_config *config, const struct client_opts *o,
                               double rate_qps);

#endif
