/* SPDX-License-Identifier: MIT
 * spread: divides a number of connections among workers that may already have some.  Pure. */
#ifndef TCPSCALER_WORKLOAD_SPREAD_H
#define TCPSCALER_WORKLOAD_SPREAD_H

#include <stdint.h>

/* Divides n connections among n_workers, of which worker w has has[w], as evenly as possible,
 * without closing connections of one worker while another opens some: if n is more than all of them
 * have, no worker gets fewer than it has; if it is less, none gets more.  A remainder goes to the
 * first workers. wanted: n_workers numbers, whose sum is n. */
void spread_connections(uint32_t n, uint32_t n_workers, const uint32_t *has, uint32_t *wanted);

#endif
