/* SPDX-License-Identifier: MIT
 * client_slots: what is known of the places in a worker's array of connections beside the
 * connection that is there now: which of them are usable, and how the connections of a place follow
 * one another.  Only kept where one may follow another (--queries-per-conn, --reconnect, a number
 * of connections that changes).  Each connection counts for itself.
 *
 * Pure; one owner thread. */
#ifndef TCPSCALER_CLIENT_WORKER_SLOTS_H
#define TCPSCALER_CLIENT_WORKER_SLOTS_H

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client_slot {
    uint64_t tuple;      /* number of its source tuple in the plan (client/worker/tuples.h) */
    uint64_t ended_ns;   /* when the connection before it ended; 0: there was none */
    uint32_t n_begun;    /* connections in this slot so far */
    uint32_t n_queries;  /* given to it */
    uint32_t n_failures; /* in a row, of connections that did not become usable since */
    uint32_t position;   /* of a usable one in client_slots.usable */
};

struct client_slots {
    struct client_slot *all; /* NULL: nothing follows an end */
    uint32_t *usable; /* those of LIVE connections, in no order: when few of many are, to look for
                         one would take long */
    uint32_t n_usable;
    struct rng rng; /* jitter of waits */
};

/* n slots for this worker.  Returns 0 or -1 (memory). */
int client_slots_init(struct client_slots *s, uint32_t n, uint64_t seed, uint32_t worker);
void client_slots_free(struct client_slots *s);

static inline bool client_slots_are_kept(const struct client_slots *s)
{
    return s->all != NULL;
}

/* A connection begins in this slot.  Returns whether it follows another one. */
bool client_slots_begin(struct client_slots *s, uint32_t slot);

/* The one that begins next follows none. */
void client_slots_forget(struct client_slots *s, uint32_t slot);

/* It became usable.  Returns how long after the end of the one before it; 0: there was none. */
uint64_t client_slots_add_usable(struct client_slots *s, uint32_t slot, uint64_t now_ns);

/* It was usable and is no more. */
void client_slots_remove_usable(struct client_slots *s, uint32_t slot);

#endif
