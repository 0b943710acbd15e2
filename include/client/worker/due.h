/* SPDX-License-Identifier: MIT
 * client_due: when a worker's next query is due, on which connection, and which query it is: taken
 * from a schedule of arrivals or, in a closed loop, one interval after the connection's last
 * answer.  Used by the worker's thread only. */
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

/* The arrivals of one class of clients, or of all. */
struct client_due_class {
    struct arrivals arrivals;
    bool has_arrivals;
    uint32_t shift;            /* from a connection's number in the class to that in all classes */
    const struct query *query; /* its queries ... */
    size_t next_query;         /* ... and the offset of the next arrival's (protocol/query.h) */
    struct closed_loop closed; /* replaces the arrivals with CLIENT_LOOP_CLOSED */
};

struct client_due {
    struct client_transport *transport;
    const struct client_span *span;
    struct client_due_class all; /* without classes */
    struct client_due_class *classes;
    uint32_t n_classes;            /* at least 1 */
    struct client_due_class *next; /* the class whose query is due first */
    bool is_sooner; /* set here: a query is now due before the one that was due next */
};

/* transport and span are set by the caller.  Returns 0, or -1 if out of memory. */
int client_due_init(struct client_due *d);
void client_due_free(struct client_due *d);

/* Starts the schedule at start_ns.  takes_arrivals: one flag per worker, borrowed. */
void client_due_start(struct client_due *d, const bool *takes_arrivals, uint64_t start_ns);

/* Replaces the schedule (pacer_replace()).  Borrowed. */
void client_due_replace(struct client_due *d, const struct schedule *schedule);

/* Returns when the next query of a class is due, even if that is after the end. */
static inline uint64_t client_due_next_of_ns(const struct client_due *d,
                                             const struct client_due_class *of)
{
    return d->transport->config->loop == CLIENT_LOOP_CLOSED ? closed_loop_next_ns(&of->closed)
                                                            : of->arrivals.pacer.next_ns;
}

/* Returns when the next query is due; PACER_NEVER if none is due before the end. */
static inline uint64_t client_due_next_ns(const struct client_due *d)
{
    const uint64_t next_ns = client_due_next_of_ns(d, d->next);

    return d->span->running && next_ns < d->span->end_ns ? next_ns : PACER_NEVER;
}

/* Takes the next due query and returns its offset (protocol/query.h).  *connection: the selected
 * connection's number over all workers.  CLIENT_CONN_NONE: a closed loop's connection has ended
 * meanwhile; no query was taken. */
size_t client_due_take(struct client_due *d, uint32_t *connection);

/* In a closed loop, schedules the connection's next query one interval after now_ns. */
void client_due_after(struct client_due *d, struct client_conn *c, uint64_t now_ns);

#endif
