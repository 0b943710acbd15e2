/* SPDX-License-Identifier: MIT
 * client_slots: the state of a worker's slots that outlives a connection: how connections follow
 * one another.  Only used where a slot can be reused (--queries-per-conn, --reconnect, --on-demand,
 * --control, --find, a schedule of connections).  Each connection is counted by itself.
 *
 * Pure; one owner thread. */
#ifndef TCPSCALER_CLIENT_WORKER_SLOTS_H
#define TCPSCALER_CLIENT_WORKER_SLOTS_H

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client_slot {
    uint64_t tuple;      /* number of the source tuple in the plan (client/worker/tuples.h) */
    uint64_t ended_ns;   /* end of the previous connection; 0: none */
    uint64_t lost_ns;    /* failure of a usable connection that nothing has replaced; 0: none */
    uint32_t n_begun;    /* connections in this slot so far */
    uint32_t n_queries;  /* given to the current connection */
    uint32_t n_failures; /* consecutive connections that failed before they were usable */
    bool was_usable;     /* the latest connection */
};

struct client_slots {
    struct client_slot *all; /* NULL: slots are not reused */
    struct rng rng;          /* jitter of the backoff */
};

/* Allocates n slots for a worker.  Returns 0, or -1 if out of memory. */
int client_slots_init(struct client_slots *s, uint32_t n, uint64_t seed, uint32_t worker);
void client_slots_free(struct client_slots *s);

static inline bool client_slots_are_kept(const struct client_slots *s)
{
    return s->all != NULL;
}

/* A connection begins in the slot.  Returns whether it replaces another one. */
bool client_slots_begin(struct client_slots *s, uint32_t slot);

/* The slot's connection is no longer wanted: its end is no failure. */
void client_slots_release(struct client_slots *s, uint32_t slot);

/* The slot's next connection does not count as a replacement. */
void client_slots_forget(struct client_slots *s, uint32_t slot);

/* The connection became usable.  Returns the time since the previous one ended; 0: there was none.
 */
uint64_t client_slots_become_usable(struct client_slots *s, uint32_t slot, uint64_t now_ns);

/* The connection failed at now_ns.  If it was usable, the slot is lost until the next one is. */
void client_slots_fail(struct client_slots *s, uint32_t slot, uint64_t now_ns);

/* The connection became usable.  Returns for how long the slot was lost; 0: it was not. */
uint64_t client_slots_recover(struct client_slots *s, uint32_t slot, uint64_t now_ns);

#endif
