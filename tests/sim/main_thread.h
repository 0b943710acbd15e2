/* SPDX-License-Identifier: MIT
 * main_thread: what happens to tcpclient's main thread (client/run.c) while it leads the workers:
 * it is interrupted, changes the load by request, finds memory short; and when it has to be over.
 *
 * The main thread is fiber 0.  What it asks the host, its control port and signals are not
 * simulated: the linker's --wrap replaces them. */
#ifndef TCPSCALER_SIM_MAIN_THREAD_H
#define TCPSCALER_SIM_MAIN_THREAD_H

#include "drive.h"

#include <stdint.h>

struct client_config;

/* A run of client_run() with this configuration begins, by the scenario of the world.  The laws are
 * checked when it collects the results; result gets its figures. */
void main_thread_begin(const struct client_config *config, struct drive_result *result);

/* The load begins at this time, or never; 0: at any. */
void main_thread_expect_begin(uint64_t begin_ns);

/* The run is over. */
void main_thread_end(void);

#endif
