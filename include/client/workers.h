/* SPDX-License-Identifier: MIT
 * client_workers: all workers of tcpclient together, as the main thread sees them.  Main thread
 * only.
 */
#ifndef TCPSCALER_CLIENT_WORKERS_H
#define TCPSCALER_CLIENT_WORKERS_H

#include "client/result.h"
#include "client/worker/worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct client_workers {
    struct client_worker *all; /* room for n_workers; the first n run */
    uint32_t n;
    bool *takes_arrivals; /* of each of them */
};

/* Starts config->n_workers of them.  Returns 0; or -1 with errno, none being left running. */
int client_workers_start(struct client_workers *workers, const struct client_config *config);

/* Waits until each has ended, after CLIENT_CLOSE. */
void client_workers_join(struct client_workers *workers);

/* Also one that was never started. */
void client_workers_free(struct client_workers *workers);

void client_workers_post(const struct client_workers *workers, enum client_message kind,
                         uint64_t value);

/* Where the last of them is. */
enum client_stage client_workers_stage(const struct client_workers *workers);

/* Arrivals are taken by those with a usable connection or, with `to_all`, by all of them. */
void client_workers_deal_arrivals(struct client_workers *workers, bool to_all);

/* Whether a connection of the first window was usable, or failed for a reason of this host. */
bool client_workers_may_go_on(const struct client_workers *workers);

/* Whether each connection of the first window is usable, half-open or ended. */
bool client_workers_have_settled(const struct client_workers *workers);

/* Sum of a gauge, by its offset in struct client_figures. */
uint64_t client_workers_gauge(const struct client_workers *workers, size_t offset);
#define CLIENT_WORKERS_GAUGE(workers, field)                                                       \
    client_workers_gauge(workers, offsetof(struct client_figures, field))

/* Adds what is counted so far. */
void client_workers_tally(const struct client_workers *workers, struct tally *into);

/* The connections' part of a result so far. */
void client_workers_connections(const struct client_workers *workers, struct client_result *result);

/* After the join: adds what they counted and measured of connections.  *last_sent_ns: when the last
 * measured query was sent; 0: none was. */
void client_workers_collect(const struct client_workers *workers, struct client_result *result,
                            uint64_t *last_sent_ns);

/* After the join: a row per connection, or with `begun_only` per connection that was begun; times
 * count from start_ns. */
void client_workers_print_connections(const struct client_workers *workers, FILE *out,
                                      bool begun_only, uint64_t start_ns);

#endif
