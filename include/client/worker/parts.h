/* SPDX-License-Identifier: MIT
 * client_parts: the parts of a worker, put together, and what the worker has them do.  Used by its
 * worker's thread only, but for client_parts_free(). */
#ifndef TCPSCALER_CLIENT_WORKER_PARTS_H
#define TCPSCALER_CLIENT_WORKER_PARTS_H

#include "client/worker/config.h"
#include "client/worker/figures.h"
#include "client/worker/stage.h"
#include "client/worker/targets.h"

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct client_parts;

/* All borrowed. */
struct client_parts_place {
    const struct client_config *config;
    struct event_base *base;
    struct client_figures *figures;
    struct client_stages *stages;
    uint32_t worker;              /* its index */
    uint32_t first_conn, n_conns; /* its slice of all connections */
};

/* NULL with errno. */
struct client_parts *client_parts_new(const struct client_parts_place *place);

/* Allocates all it will need.  Returns 0 or -1 with errno. */
int client_parts_init(struct client_parts *p);

/* Releases what they hold, also after a failed init. */
void client_parts_release(struct client_parts *p);

/* After the event base is freed, which may have events in them.  NULL: nothing. */
void client_parts_free(struct client_parts *p);

/* Opens and proves the connections, beyond the first window once one of them is usable; start_ns is
 * common to all workers. */
void client_parts_open(struct client_parts *p, uint64_t start_ns);

/* Does not wait for a usable one any longer. */
void client_parts_open_all(struct client_parts *p);

/* The schedule begins at start_ns.  takes_arrivals: of each worker, borrowed. */
void client_parts_start(struct client_parts *p, const bool *takes_arrivals, uint64_t start_ns);

/* From now on with these targets; their schedule is borrowed. */
void client_parts_steer(struct client_parts *p, const struct client_targets_copy *targets);

/* No more connects; queries in flight are cancelled. */
void client_parts_stop(struct client_parts *p);

/* Closes all connections. */
void client_parts_close(struct client_parts *p);

/* Before the loop looks at the sockets.  Returns whether it may sleep. */
bool client_parts_before_turn(struct client_parts *p);

#endif
