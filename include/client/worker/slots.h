/* SPDX-License-Identifier: MIT
 * client_life: what follows the end of a connection.  Without --queries-per-conn and --reconnect
 * nothing does: its place in the worker's array stays empty, until a larger population is wanted
 * (client/worker/pool.h).  With them another connection takes
 * its place: at once when it was given all the queries it may carry, after a growing wait
 * (workload/backoff.h) when it failed.  Each life is a connection of its own in every count.
 *
 * Used by its worker's thread. */
#ifndef TCPSCALER_CLIENT_WORKER_SLOTS_H
#define TCPSCALER_CLIENT_WORKER_SLOTS_H

#include "base/rng.h"
#include "measure/outcome.h"

#include <stdbool.h>
#include <stdint.h>

struct client_worker;
struct client_conn;

/* Of a place, beside its connection. */
struct client_life {
    uint64_t tuple;      /* number of its source tuple in the plan; CLIENT_LIFE_NO_TUPLE */
    uint64_t ended_ns;   /* when the connection before it ended; 0: there was none */
    uint32_t n_begun;    /* connections in this place so far */
    uint32_t n_queries;  /* given to it */
    uint32_t n_failures; /* in a row, of connections that did not become usable since */
    uint32_t position;   /* of a usable one in client_lives.usable */
};

struct client_lives {
    struct client_life *places; /* as many as connections; NULL: nothing follows an end */
    uint32_t *usable; /* the places of LIVE connections, in no order: when few of many are,
                         to look for one would take long */
    uint32_t n_usable;
    struct rng rng; /* jitter */
};

#define CLIENT_LIFE_NO_TUPLE UINT64_MAX

/* Returns 0 or -1 with errno. */
int client_life_init(struct client_worker *cw);
void client_life_free(struct client_worker *cw);

/* Of the connection's place; NULL where nothing follows an end. */
struct client_life *client_life_of(const struct client_conn *c);

/* A connection is begun in this place. */
void client_life_begin(struct client_conn *c);

/* The one that is begun next follows none. */
void client_life_forget(struct client_conn *c);

/* It became usable. */
void client_life_usable(struct client_conn *c);

/* It was usable and is no more. */
void client_life_unusable(struct client_conn *c);

/* It was given a query: with the last one it may carry it is FINISHING. */
void client_life_give(struct client_conn *c);

/* FINISHING: one of its queries has its outcome; with the last one it closes. */
void client_life_check_finished(struct client_conn *c);

/* It ended: another one is begun in its place, now or later, unless connecting has stopped or the
 * place is not wanted any more. */
void client_life_end(struct client_conn *c, struct outcome outcome);

/* No other one follows: waits are broken off. */
void client_life_stop(struct client_conn *c);

#endif
