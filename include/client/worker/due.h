/* SPDX-License-Identifier: MIT
 * client_due: when a worker's next query is due, on which connection, and which query it is: by the
 * arrivals of a schedule or, in a closed loop, one interval after a connection's last answer.  Used
 * by its worker's thread. */
#ifndef TCPSCALER_CLIENT_WORKER_DUE_H
#define TCPSCALER_CLIENT_WORKER_DUE_H

#include "client/worker/span.h"
#include "client/worker/transport.h"
#include "workload/arrivals.h"
#include "workload/closed_loop.h"
#include "workload/schedule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client_due {
    struct client_transport *transport;
    const struct client_span *span;
    struct arrivals arrivals;
    struct closed_loop closed; /* instead of them, with CLIENT_LOOP_CLOSED */
    size_t next_query;         /* which one the next arrival sends (protocol/query.h) */
    bool is_sooner;            /* a query is due before what was due next: set by this part */
};

/* transport and span are set.  Returns 0 or -1 (memory). */
int client_due_init(struct client_due *d);
void client_due_free(struct client_due *d);

/* The schedule begins at start_ns.  takes_arrivals: of each worker, borrowed. */
void client_due_start(struct client_due *d, const bool *takes_arrivals, uint64_t start_ns);

/* Replaces the schedule (pacer_replace()), borrowed. */
void client_due_replace(struct client_due *d, const struct schedule *schedule);

/* When the next query is due; PACER_NEVER: none is before the end. */
static inline uint64_t client_due_next_ns(const struct client_due *d)
{
    const uint64_t next_ns = d->transport->config->loop == CLIENT_LOOP_CLOSED
                                 ? closed_loop_next_ns(&d->closed)
                                 : d->arrivals.pacer.next_ns;

    return d->span->running && next_ns < d->span->end_ns ? next_ns : PACER_NEVER;
}

/* Takes the next query, which is due: returns which one it is (protocol/query.h).  *connection: the
 * number over all workers of the one chosen; in a closed loop CLIENT_CONN_NONE: it has ended
 * meanwhile and has no next query, nothing was taken. */
size_t client_due_take(struct client_due *d, uint32_t *connection);

/* In a closed loop: the connection's next query is due one interval after now_ns. */
void client_due_after(struct client_due *d, struct client_conn *c, uint64_t now_ns);

#endif
