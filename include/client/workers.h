/* SPDX-License-Identifier: MIT
 * client_workers: all workers of tcpclient.  Main thread only. */
#ifndef TCPSCALER_CLIENT_WORKERS_H
#define TCPSCALER_CLIENT_WORKERS_H

#include "client/result.h"
#include "client/worker/worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct client_workers {
    struct client_worker *all; /* room for n_workers; the first n are running */
    uint32_t n;
    bool *takes_arrivals; /* one flag per worker */
    uint32_t *shares;     /* two per worker: of client_steer_connections() */
};

/* Starts config->n_workers workers.  Returns 0; or -1 with errno, with none left running. */
int client_workers_start(struct client_workers *workers, const struct client_config *config);

/* Ends workers that have opened nothing. */
void client_workers_cancel(struct client_workers *workers);

/* Waits until all have ended, after CLIENT_CLOSE. */
void client_workers_join(struct client_workers *workers);

/* Also for workers that were never started. */
void client_workers_free(struct client_workers *workers);

/* Posts a message to each worker. */
void client_workers_post(const struct client_workers *workers, enum client_message kind,
                         uint64_t value);

/* Returns the stage that all of them have reached. */
enum client_stage client_workers_stage(const struct client_workers *workers);

/* Distributes arrivals over the workers with a usable connection or, with `to_all`, over all. */
void client_workers_deal_arrivals(struct client_workers *workers, bool to_all);

/* Whether a connection of the first window became usable, or failed because of this host: then
 * connections beyond the first window may be opened. */
bool client_workers_may_go_on(const struct client_workers *workers);

/* Whether each connection of the first window is usable, half-open, ended, or will not be opened.
 */
bool client_workers_have_settled(const struct client_workers *workers);

/* Returns the sum of a gauge, given by its offset in struct client_figures. */
uint64_t client_workers_gauge(const struct client_workers *workers, size_t offset);
#define CLIENT_WORKERS_GAUGE(workers, field)                                                       \
    client_workers_gauge(workers, offsetof(struct client_figures, field))

/* Adds the current counts. */
void client_workers_tally(const struct client_workers *workers, struct tally *into);
void client_workers_class_tallies(const struct client_workers *workers, struct class_tally *into);

/* Fills in the number of usable connections of each class: live[CLIENT_CLASS_MOST]. */
void client_workers_class_live(const struct client_workers *workers, uint64_t *live);

/* Returns the number of connections that failed because of this host: no port, no memory, no
 * route, a source address that is not local, ... */
uint64_t client_workers_own_failures(const struct tally *t);

/* Fills in the connections of a result so far. */
void client_workers_connections(const struct client_workers *workers, struct client_result *result);

/* After joining: when the last listener stopped measuring on request; 0: none did. */
uint64_t client_workers_stopped_ns(const struct client_workers *workers);

/* After joining: adds counts and connection metrics.  *last_sent_ns: time of the last measured
 * query; *last_unblocked_ns: of the last that did not wait for an id; 0: none. */
void client_workers_collect(const struct client_workers *workers, struct client_result *result,
                            uint64_t *last_sent_ns, uint64_t *last_unblocked_ns);

/* After joining: prints one row per connection or, with `begun_only`, per connection that was
 * started.  Times are relative to start_ns. */
void client_workers_print_connections(const struct client_workers *workers, FILE *out,
                                      bool begun_only, uint64_t start_ns);

#endif
