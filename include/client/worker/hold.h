/* SPDX-License-Identifier: MIT
 * client_hold: for how long the connect rate held back the connection that a slot's queries wait
 * for: a delay of this host, unlike the wait for connections that the server has not yet answered.
 *
 * Only kept with --on-demand and --connect-rate; without, these functions do nothing.
 * Pure; one owner thread. */
#ifndef TCPSCALER_CLIENT_WORKER_HOLD_H
#define TCPSCALER_CLIENT_WORKER_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a slot's latest connection, CLOCK_MONOTONIC. */
struct client_hold_times {
    uint64_t requested_ns;
    uint64_t allowed_ns; /* when the rate allowed it; it was opened then or later */
};

struct client_hold {
    struct client_hold_times *slots; /* NULL: not kept */
};

/* Keeps the times of n slots.  Returns 0, or -1 if out of memory. */
int client_hold_init(struct client_hold *h, uint32_t n);
void client_hold_free(struct client_hold *h); /* also if all zero */

static inline bool client_hold_is_kept(const struct client_hold *h)
{
    return h->slots != NULL;
}

/* A connection was requested for the slot at now_ns. */
void client_hold_request(struct client_hold *h, uint32_t slot, uint64_t now_ns);

/* The slot's connection is opened; the rate allowed it at allowed_ns. */
void client_hold_allow(struct client_hold *h, uint32_t slot, uint64_t allowed_ns);

/* Returns for how long the rate held the slot's connection back while a query waited for it from
 * since_ns on. */
uint64_t client_hold_ns(const struct client_hold *h, uint32_t slot, uint64_t since_ns);

#endif
