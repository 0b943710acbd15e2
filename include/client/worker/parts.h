/* SPDX-License-Identifier: MIT
 * client_parts: creates the parts of a worker, connects them and runs them.  Used by the worker's
 * thread only, except client_parts_free(). */
#ifndef TCPSCALER_CLIENT_WORKER_PARTS_H
#define TCPSCALER_CLIENT_WORKER_PARTS_H

#include "client/worker/parts_params.h"

#include <stdbool.h>
#include <stdint.h>

struct client_parts;

/* Returns NULL with errno on failure. */
struct client_parts *client_parts_new(const struct client_parts_params *params);

/* Allocates everything the worker needs.  Returns 0 or -1 with errno. */
int client_parts_init(struct client_parts *p);

/* Releases the contents, also after a failed init. */
void client_parts_release(struct client_parts *p);

/* Call it after freeing the event base, which may hold events of the parts.  p NULL: no effect. */
void client_parts_free(struct client_parts *p);

/* Opens and proves the connections; beyond the first window only once one of them is usable.
 * start_ns is common to all workers. */
void client_parts_open(struct client_parts *p, uint64_t start_ns);

/* Does not wait for a usable one any longer. */
void client_parts_open_all(struct client_parts *p);

/* Opens none but those being opened, and replacements. */
void client_parts_open_no_more(struct client_parts *p);

/* Starts the schedule at start_ns.  takes_arrivals: one flag per worker, borrowed. */
void client_parts_start(struct client_parts *p, const bool *takes_arrivals, uint64_t start_ns);

/* Switches to the newest targets. */
void client_parts_steer(struct client_parts *p);

/* Stops connecting and cancels queries in flight. */
void client_parts_stop(struct client_parts *p);

/* Closes all connections. */
void client_parts_close(struct client_parts *p);

/* Call it before the loop polls the sockets.  Returns whether the loop may sleep. */
bool client_parts_before_turn(struct client_parts *p);

#endif
