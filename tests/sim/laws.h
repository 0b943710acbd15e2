/* SPDX-License-Identifier: MIT
 * laws: checks the figures of a finished run: the product's own laws of conservation, and that the
 * figures equal those of the ledger and of the simulated network. */
#ifndef TCPSCALER_SIM_LAWS_H
#define TCPSCALER_SIM_LAWS_H

#include "scenario.h"

#include <stdbool.h>
#include <stdint.h>

struct client_config;
struct client_result;
struct client_workers;

/* How late a worker with enough CPU time may be.  UINT64_MAX: it may have too little. */
uint64_t laws_most_late_ns(const struct scenario *s);

/* How late a connection may be opened on demand, once the connect rate allows it.  UINT64_MAX: it
 * may wait for something else. */
uint64_t laws_most_late_connect_ns(const struct scenario *s);

/* A law that is broken ends the process. */
void laws_check(const struct scenario *s, const struct client_config *config,
                const struct client_workers *workers, const struct client_result *r,
                uint64_t begin_ns, bool was_stopped);

#endif
