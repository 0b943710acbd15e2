/* SPDX-License-Identifier: MIT
 * server_watch: what tcpserver's main thread does while the workers serve: looks at memory, starts
 * more workers, prints the statistics line, takes signals.  Main thread. */
#ifndef TCPSCALER_SERVER_WATCH_H
#define TCPSCALER_SERVER_WATCH_H

#include "server/server.h"

/* Makes s->base and its events.  Returns 0, or not 0 when something is missing. */
int server_watch_begin(struct server *s);

/* Starts another worker when one is wanted, from here on: the workers run.  Likewise. */
int server_watch_workers(struct server *s);

/* The loop has ended: signals find what was there before it. */
void server_watch_end(struct server *s);

/* Adds up what the workers have counted so far, in s->result; context: a struct server. */
void server_watch_collect(void *context);

/* Replaces the content of a file; on stdout and in a pipe, appends another object. */
void server_watch_print_json(struct server *s);

#endif
