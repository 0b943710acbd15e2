/* SPDX-License-Identifier: MIT
 * client_reopen: the slots whose ended connections are to be opened again, first come first served.
 *
 * Pure: it knows numbers, not connections.  One owner thread. */
#ifndef TCPSCALER_CLIENT_WORKER_REOPEN_H
#define TCPSCALER_CLIENT_WORKER_REOPEN_H

#include <stdint.h>

/* Indexes in client_reopen.links. */
struct client_reopen_link {
    uint32_t previous, next;
};

struct client_reopen {
    /* Slot i has element i + 1.  Element 0 comes after the last and before the first.  NULL: none
     * can be added. */
    struct client_reopen_link *links;
    uint32_t n; /* number in line */
};

/* Initializes an empty line for the slots 0 to n_slots - 1.  Returns 0 or -1 with errno. */
int client_reopen_init(struct client_reopen *r, uint32_t n_slots);

/* Also if all zero. */
void client_reopen_free(struct client_reopen *r);

/* Adds a slot, which must not be in line, at the end. */
void client_reopen_add(struct client_reopen *r, uint32_t slot);

/* Removes the first slot and returns it; there must be one. */
uint32_t client_reopen_take(struct client_reopen *r);

/* Removes a slot, if it is queued; the others keep their order.  Takes constant time. */
void client_reopen_remove(struct client_reopen *r, uint32_t slot);

#endif
