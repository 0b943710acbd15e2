/* SPDX-License-Identifier: MIT
 * main_thread: what happens to tcpclient's main thread (client/run.c) while it controls the workers
 * (it is interrupted, changes the load by request, finds memory short), and by when the run must be
 * over.
 *
 * The main thread is fiber 0. Its questions to the host, its control port and signals are not
 * simulated: the linker's --wrap replaces them. */
#ifndef TCPSCALER_SIM_MAIN_THREAD_H
#define TCPSCALER_SIM_MAIN_THREAD_H

#include "drive.h"

#include <stdint.h>

struct client_config;

/* Begins a run of client_run() with this configuration in the scenario of the world.  The laws are
 * checked when it collects the results; `result` gets its figures. */
void main_thread_begin(const struct client_config *config, struct drive_result *result);

/* The load must begin at this time, or not at all; 0: at any time. */
void main_thread_expect_begin(uint64_t begin_ns);

/* The run is over. */
void main_thread_end(void);

#endif
