/* SPDX-License-Identifier: MIT
 * client_usable: lists of a worker's usable connections, one for each class, to select one of them
 * at random, even if few of the slots are usable.
 *
 * If connections can be replaced, some are missing at any time, and the lists are kept from the
 * start.  Other runs create them when they need them: most lose few connections, and save the 8
 * bytes per slot.  Used by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_USABLE_H
#define TCPSCALER_CLIENT_WORKER_USABLE_H

#include "client/worker/class.h"
#include "client/worker/transport.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In no order. */
struct client_usable_list {
    uint32_t *slots;
    uint32_t n;
};

struct client_usable {
    const struct client_transport *transport; /* borrowed, set by the caller */
    /* The elements of all lists, each starting at the first slot of its class; NULL: no lists are
     * kept. */
    uint32_t *slots;
    uint32_t *positions; /* of the usable slots in their lists */
    /* By class; the first one also without classes. */
    struct client_usable_list lists[CLIENT_CLASS_MOST];
};

static inline bool client_usable_are_kept(const struct client_usable *u)
{
    return u->slots != NULL;
}

/* Start to keep lists, which must not be kept yet.  _keep: empty ones; no connection is usable yet.
 * _gather: of those that are usable now.  Return 0, or -1 if out of memory. */
int client_usable_keep(struct client_usable *u);
int client_usable_gather(struct client_usable *u);

void client_usable_free(struct client_usable *u); /* also if not kept */

/* The connection became usable, or no longer is.  No effect if no lists are kept. */
void client_usable_add(struct client_usable *u, const struct client_conn *c);
void client_usable_remove(struct client_usable *u, const struct client_conn *c);

#endif
