/* SPDX-License-Identifier: MIT
 * drive: a run of tcpclient, its main thread and its workers, in the simulated world, and the laws
 * that hold at the end.  server/drive.c does the same for tcpserver's workers. */
#ifndef TCPSCALER_SIM_DRIVE_H
#define TCPSCALER_SIM_DRIVE_H

#include "client/worker/metric.h"
#include "scenario.h"

#include <stdbool.h>
#include <stdint.h>

enum drive_phase { DRIVE_PREPARE, DRIVE_CONNECT, DRIVE_LOAD, DRIVE_MERGE, DRIVE_N_PHASES };

struct drive_result {
    bool started;   /* false: a fault kept the workers from it */
    uint64_t trace; /* hash of all that happened */
    uint64_t simulated_ns, n_calls, n_faults;
    uint64_t n_queries, n_answered, n_expired, n_lost, n_connections, n_failed;
    uint64_t n_held; /* by the connect window */
    uint64_t p99_ns[CLIENT_N_QUERY_METRICS];
    int64_t most_bytes;              /* of the product's memory at a time */
    double phases_s[DRIVE_N_PHASES]; /* real time */
};

/* A random scenario (random.c, server/random.c). */
struct scenario drive_random(uint64_t seed);

void drive_print(const struct drive_result *result);

/* Returns after a run in which all laws hold; any other ends the process (violation.h). */
void drive(const struct scenario *s, struct drive_result *result);

/* The whole program, with these options: plan, run and reports.  The network and the server are
 * those of the scenario, the load is that of the options.  Returns the program's exit code. */
int drive_program(const struct scenario *of_world, int argc, char **argv);

/* The parts of drive(), for drive_program(): start the world; set what runs in it; end it. */
struct client_config;
void drive_begin(const struct scenario *s);
void drive_expect(const struct client_config *c, struct drive_result *result);
void drive_end(struct drive_result *result);

/* Whether the worker of this fiber no longer counts stray answers. */
bool drive_is_drained(int fiber);

#endif
