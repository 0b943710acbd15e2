/* SPDX-License-Identifier: MIT
 * client_steer: changes a running load: its rate, its end, its number of connections.
 *
 * A new rate takes effect at a time that is common to all workers and slightly in the future, so
 * that every worker knows it in time: no burst, no gap, and later arrivals depend on the seed and
 * the changes only.  During a pause the rate is 0 and nothing becomes due; schedule and end do not
 * move.  Main thread. */
#ifndef TCPSCALER_CLIENT_STEER_H
#define TCPSCALER_CLIENT_STEER_H

#include "client/worker/config.h"
#include "client/worker/targets.h"

#include <stdbool.h>
#include <stdint.h>

struct client_workers;

struct client_steer {
    struct client_targets targets;
    struct client_workers *workers; /* borrowed */
    const struct client_config *config;
    uint64_t begin_ns;         /* of the schedule; 0: not started */
    struct schedule requested; /* the targets without pauses */
    bool changed;              /* the targets differ from the configuration */
    uint64_t changed_ns;       /* when the newest schedule takes effect */
    double n_discarded; /* queries after the warm-up and before changed_ns that trials discard */
    bool paused;
    uint64_t paused_since_ns, resumed_ns; /* of the last pause; resumed_ns: unless paused */
    uint64_t paused_ns;                   /* measured part of all pauses before that */
};

void client_steer_init(struct client_steer *s, const struct client_config *config,
                       struct client_workers *workers);

/* The workers run and have been told to begin. */
void client_steer_begin(struct client_steer *s, uint64_t begin_ns, uint64_t end_ns);

/* Replaces the rest of the schedule.  *at_ns: when it takes effect; meaningless during a pause,
 * since the rate then takes effect when the pause ends.  Returns 0, or -1 if there were too many
 * changes within a second: retry later. */
int client_steer_rate(struct client_steer *s, double qps, uint64_t *at_ns);

/* Sends at this rate from *at_ns on.  Queries that become due discard_ns later or after that are
 * measured, and duration_ns after that the rate is 0; PACER_NEVER: no end.  Returns like
 * client_steer_rate(). */
int client_steer_trial(struct client_steer *s, double qps, uint64_t discard_ns,
                       uint64_t duration_ns, uint64_t *at_ns);

/* Ends the trial: from *at_ns on nothing becomes due.  Queries due before that are measured or not
 * as in the rest of the trial.  Returns like client_steer_rate(). */
int client_steer_trial_end(struct client_steer *s, uint64_t *at_ns);

/* Whether all workers have applied the newest targets. */
bool client_steer_is_followed(const struct client_steer *s);

/* Like client_steer_rate().  No effect if already paused or resumed. */
int client_steer_pause(struct client_steer *s, bool paused, uint64_t *at_ns);

/* Requests n connections, at most config->n_connections.  No worker closes any while others open
 * more (workload/spread.h): when memory is short, closed connections could not be replaced. Returns
 * 0, or -1 unless client_steer_is_followed(): retry. */
int client_steer_connections(struct client_steer *s, uint32_t n);

/* Likewise the number of queries per connection, and the message size by its index in
 * config->sizes.  No query may be under way. */
int client_steer_queries_per_conn(struct client_steer *s, uint32_t n);
int client_steer_size(struct client_steer *s, uint32_t index);

/* Ends the measurement after a moment; answers to queries sent are still awaited.  Returns the time
 * of the end. */
uint64_t client_steer_end(struct client_steer *s);

/* Returns how many queries are due from the start of the load until then, those that are not
 * measured included.  Exact for the last second only: of older steps the mean is kept. */
double client_steer_n_due(const struct client_steer *s, uint64_t until_ns);

/* _rate_qps: requested rate at a time.  _mean_qps: mean rate of the queries to be measured, from
 * the end of the warm-up until then. */
double client_steer_rate_qps(const struct client_steer *s, uint64_t now_ns);
double client_steer_mean_qps(const struct client_steer *s, uint64_t until_ns);

/* Returns the mean rate requested over the first measured_ns of the measurement: planned_qps if
 * that is what was planned, if nothing was measured, and in a closed loop, where answers set the
 * rate. */
double client_steer_requested_qps(const struct client_steer *s, double planned_qps,
                                  uint64_t measured_ns);

/* Returns the time paused from the start of the measurement until then. */
uint64_t client_steer_paused_ns(const struct client_steer *s, uint64_t until_ns);

#endif
