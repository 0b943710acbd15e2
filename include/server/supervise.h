/* SPDX-License-Identifier: MIT
 * server_supervise: the main thread's work while the workers serve: checks memory, starts workers,
 * prints statistics, handles signals.  Main thread. */
#ifndef TCPSCALER_SERVER_SUPERVISE_H
#define TCPSCALER_SERVER_SUPERVISE_H

#include "server/server.h"

/* Creates s->base and its events.  Returns 0, or -1 after a line on stderr. */
int server_supervise_begin(struct server *s);

/* From now on starts another worker when one is wanted.  Call it once the workers run.  Returns 0,
 * or nonzero on failure. */
int server_supervise_workers(struct server *s);

/* Restores the signal handlers after the loop has ended. */
void server_supervise_end(struct server *s);

/* Sums up the workers' counters in s->result.  context: a struct server. */
void server_supervise_collect(void *context);

#endif
