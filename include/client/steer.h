/* SPDX-License-Identifier: MIT
 * client_steer: changes what is asked of a run under way: its rate, its end, its connections.
 *
 * A change of the rate is in force from a moment on that is common to all workers and a little
 * ahead, so that each knows of it in time: no burst, no gap, and the arrivals that follow depend on
 * seed and changes alone.  In a pause the rate is 0: nothing becomes due; schedule and end wait for
 * nothing.  Main thread. */
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
    uint64_t begin_ns;     /* of the schedule; 0: not yet */
    struct schedule asked; /* the targets without pauses */
    bool changed;          /* the targets are not those of the configuration */
    bool paused;
    uint64_t paused_since_ns, paused_ns; /* the latter: of all pauses that are over */
};

void client_steer_init(struct client_steer *s, const struct client_config *config,
                       struct client_workers *workers);

/* The workers run, and were told to begin. */
void client_steer_begin(struct client_steer *s, uint64_t begin_ns, uint64_t end_ns);

/* In place of the rest of the schedule.  *at_ns: when it is in force.  Returns -1 when there were
 * too many changes within a second: ask later. */
int client_steer_rate(struct client_steer *s, double qps, uint64_t *at_ns);

/* As above; a second time nothing changes. */
int client_steer_pause(struct client_steer *s, bool paused, uint64_t *at_ns);

/* n connections are wanted, at most config->n_connections.  Returns -1 when a worker has not yet
 * taken over the change before: ask again. */
int client_steer_connections(struct client_steer *s, uint32_t n);

/* The measurement ends in a moment; the queries sent are awaited.  Returns when. */
uint64_t client_steer_end(struct client_steer *s);

/* What was due between two times, on average; 0 before the load and after it. */
double client_steer_between_qps(const struct client_steer *s, uint64_t from_ns, uint64_t until_ns);

/* Requested rate at a time; its mean from the start of the measurement up to a time. */
double client_steer_rate_qps(const struct client_steer *s, uint64_t now_ns);
double client_steer_mean_qps(const struct client_steer *s, uint64_t until_ns);

/* Up to a time in all. */
uint64_t client_steer_paused_ns(const struct client_steer *s, uint64_t until_ns);

#endif
