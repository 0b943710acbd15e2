/* SPDX-License-Identifier: MIT
 * server_cost: what a connection and a query cost the watched server, from samples.  Pure.
 *
 * Bytes per connection are the slope of memory over the number of connections, over the ramp: the
 * samples until the load began or, if most connections came later, all samples; unknown if their
 * number grew by less than SERVER_COST_LEAST_CONNECTIONS.  CPU per query is the growth of CPU time
 * over the growth of queries sent, between the first and the last sample under load. */
#ifndef TCPSCALER_MEASURE_SERVER_COST_H
#define TCPSCALER_MEASURE_SERVER_COST_H

#include "measure/slope.h"
#include "measure/watch_series.h"

#include <stdint.h>

#define SERVER_COST_NAME_BYTES 160

/* Memory comes in pages of 4 KiB or more, and any program allocates some for other purposes: with
 * fewer connections than this, the memory per connection is unknown. */
#define SERVER_COST_LEAST_CONNECTIONS 100u

/* Where the user memory is from: id, name.  The first that has a slope is used, but RSS before a
 * PSS of few samples for a single process.  From Linux 6.2 to 6.15, RSS may be wrong by some 100
 * KiB per CPU. */
#define SERVER_COST_SOURCES(X)                                                                     \
    X(NONE, "none")                                                                                \
    X(CGROUP, "cgroup")                                                                            \
    X(PSS, "pss")                                                                                  \
    X(RSS, "rss")
#define SERVER_COST_SOURCE_ENUM(id, name) SERVER_COST_##id,
enum server_cost_source { SERVER_COST_SOURCES(SERVER_COST_SOURCE_ENUM) SERVER_COST_N_SOURCES };

const char *server_cost_source_name(enum server_cost_source source);

/* An unknown double is NAN, an unknown count WATCH_UNKNOWN. */
struct server_cost {
    char name[SERVER_COST_NAME_BYTES]; /* "nsd (process 12, 3 processes)"; printable ASCII */
    char end[SERVER_COST_NAME_BYTES];  /* why watching ended before the run; "": it did not */
    uint64_t n_samples;
    struct slope user, kernel; /* bytes per connection */
    enum server_cost_source user_source;
    double buffer_bytes;       /* per connection: most at any sample */
    uint64_t queries;          /* sent between the samples that the next figures are from */
    double user_ns, system_ns; /* CPU time per query */
    double cpus;               /* CPUs busy meanwhile */
    uint64_t rss_bytes, pss_bytes, cgroup_bytes; /* most at any sample, like the following */
    uint64_t fds, processes;
    uint64_t listen_queue, listen_backlog;   /* of the backlog: least at any sample */
    uint64_t listen_overflows, listen_drops; /* while watching */
};

/* Fills in all but the names.  The load began and ended at these times, in ns since the epoch;
 * begin_ns UINT64_MAX: there was none. */
void server_cost_compute(struct server_cost *c, const struct watch_series *s, uint64_t begin_ns,
                         uint64_t end_ns);

/* Copies a text, as far as it fits, with '?' for each character that is not printable ASCII. */
void server_cost_copy_name(char to[SERVER_COST_NAME_BYTES], const char *from);

#endif
