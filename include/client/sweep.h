/* SPDX-License-Identifier: MIT
 * client_sweep: runs capacity searches one after the other, each at another value of an axis
 * (--sweep): number of connections, queries per connection or message size.  The connections stay
 * open from one search to the next.  Without an axis it is a single search.  Main thread only. */
#ifndef TCPSCALER_CLIENT_SWEEP_H
#define TCPSCALER_CLIENT_SWEEP_H

#include "client/find.h"
#include "client/opts_table.h"

#include <stdbool.h>
#include <stdint.h>

struct client_sweep_point {
    uint64_t at; /* value of the axis; 0 without one */
    struct client_find *find;
};

struct client_sweep {
    /* Set by client_sweep_prepare(). */
    struct client_find_settings settings; /* of every search */
    int axis;                             /* enum client_sweep_axis */
    unsigned n;                           /* points, at least 1 */
    struct client_sweep_point points[CLIENT_SWEEP_MOST];
    unsigned n_begun; /* the others were not reached */
    /* Internal. */
    const struct client_config *config;
    struct client_steer *steer;
    struct client_workers *workers;
    struct client_intervals *intervals;
    bool stopped;
};

/* Allocates the searches that the options ask for.  Returns 0, or -1 if out of memory. */
int client_sweep_prepare(struct client_sweep *s, const struct client_opts *opts);

/* Also if preparing failed. */
void client_sweep_free(struct client_sweep *s);

/* All borrowed.  Returns 0, or -1 if out of memory. */
int client_sweep_init(struct client_sweep *s, const struct client_config *run,
                      struct client_steer *steer, struct client_workers *workers,
                      struct client_intervals *intervals);

/* Begins the load, without queries. */
void client_sweep_begin(struct client_sweep *s, uint64_t begin_ns);

/* Call it every 20 ms.  Returns false when the last search is over. */
bool client_sweep_look(struct client_sweep *s, uint64_t now_ns);

/* Ends the current search, and begins no other. */
void client_sweep_stop(struct client_sweep *s);

/* Whether every query of the latest trial had its outcome in time. */
bool client_sweep_is_drained(const struct client_sweep *s);

/* Whether every search found an answer. */
bool client_sweep_is_conclusive(const struct client_sweep *s);

/* Whether connections were missing in a trial of any search. */
bool client_sweep_lacked_connections(const struct client_sweep *s);

/* Describes the current step, for the progress line.  Returns text (CLIENT_FIND_TEXT_BYTES). */
const char *client_sweep_describe(const struct client_sweep *s, char *text);

/* "connections", "queries-per-conn", "size"; NULL without an axis. */
const char *client_sweep_axis_name(const struct client_sweep *s);

#endif
