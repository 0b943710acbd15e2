/* SPDX-License-Identifier: MIT
 * drive: a run of tcpclient's workers in the simulated world: what the main thread of tcpclient
 * does with them (client/run.c), and the laws that hold at the end.  server/drive.c does the same
 * for tcpserver. */
#ifndef TCPSCALER_SIM_DRIVE_H
#define TCPSCALER_SIM_DRIVE_H

#include "scenario.h"

#include <stdbool.h>
#include <stdint.h>

enum drive_phase { DRIVE_PREPARE, DRIVE_CONNECT, DRIVE_LOAD, DRIVE_MERGE, DRIVE_N_PHASES };

struct drive_result {
    bool started;   /* false: a fault kept the workers from it */
    uint64_t trace; /* hash of all that happened */
    uint64_t simulated_ns, n_calls, n_faults;
    uint64_t n_queries, n_answered, n_expired, n_lost, n_connections, n_failed;
    int64_t most_bytes;              /* of the product's memory at a time */
    double phases_s[DRIVE_N_PHASES]; /* real time */
};

/* A random scenario. */
struct scenario drive_random(uint64_t seed);

void drive_print(const struct drive_result *result);

/* Returns after a run in which all laws hold; any other ends the process (violation.h). */
void drive(const struct scenario *s, struct drive_result *result);

/* Whether the worker that is this fiber counts strays no more. */
bool drive_is_drained(int fiber);

#endif
