/* SPDX-License-Identifier: MIT
 * client_crew: all workers of tcpclient together, as the main thread sees them.  Main thread only.
 */
#ifndef TCPSCALER_CLIENT_WORKERS_H
#define TCPSCALER_CLIENT_WORKERS_H

#include "client/result.h"
#include "client/worker/worker.h"

#include <stdio.h>

struct client_crew {
    struct client_worker *workers; /* room for all; the first n run */
    uint32_t n;
    bool *takes_arrivals; /* of each of them */
};

/* Starts config->n_workers of them.  Returns 0; or -1 with errno, none being left running. */
int client_crew_start(struct client_crew *crew, const struct client_config *config);

/* Waits until each has ended, after CLIENT_CLOSE. */
void client_crew_join(struct client_crew *crew);

/* Also one that was never started. */
void client_crew_free(struct client_crew *crew);

void client_crew_post(const struct client_crew *crew, enum client_message kind, uint64_t value);

/* Where the last of them is. */
enum client_stage client_crew_stage(const struct client_crew *crew);

/* Arrivals are taken by those with a usable connection or, with `to_all`, by all of them. */
void client_crew_deal_arrivals(struct client_crew *crew, bool to_all);

/* Sum of a gauge, by its offset in struct client_worker. */
/* Whether each connection of the first window had its time and none was ever usable, for a reason
 * that lies with the server or on the way to it. */
bool client_crew_is_ignored(const struct client_crew *crew);

uint64_t client_crew_gauge(const struct client_crew *crew, size_t offset);
#define CLIENT_CREW_GAUGE(crew, field)                                                             \
    client_crew_gauge(crew, offsetof(struct client_worker, field))

/* Adds what is counted so far. */
void client_crew_tally(const struct client_crew *crew, struct tally *into);

/* The connections' part of a result so far. */
void client_crew_connections(const struct client_crew *crew, struct client_result *result);

/* After the join: adds what they counted and measured of connections.  *last_sent_ns: when the last
 * measured query was sent; 0: none was. */
void client_crew_collect(const struct client_crew *crew, struct client_result *result,
                         uint64_t *last_sent_ns);

/* After the join: a row per connection, or with `begun_only` per connection that was begun; times
 * count from start_ns. */
void client_crew_print_connections(const struct client_crew *crew, FILE *out, bool begun_only,
                                   uint64_t start_ns);

#endif
