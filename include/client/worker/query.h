/* SPDX-License-Identifier: MIT
 * client_query: a worker's queries from the moment each is queued: sent, given up, or lost with its
 * connection; what each counts for.  Answers are client_answer's.  Used by its worker's thread. */
#ifndef TCPSCALER_CLIENT_WORKER_QUERY_H
#define TCPSCALER_CLIENT_WORKER_QUERY_H

#include "client/worker/due.h"
#include "client/worker/span.h"
#include "client/worker/transport.h"
#include "measure/outcome.h"
#include "measure/tally.h"
#include "workload/inflight.h"

#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

struct client_queries {
    struct client_transport *transport;
    struct client_figures *figures;
    struct client_span *span;
    struct client_due *due;
    struct inflight inflight;
    struct event expiry_event; /* the oldest query's timeout */
};

/* inflight_query.tag: the tally class, and whether it has been counted as blocked. */
enum { CLIENT_QUERY_CLASS = 0x0f, CLIENT_QUERY_BLOCKED = 0x10 };

static inline struct tally_queries *client_query_counts(struct client_queries *qs,
                                                        const struct inflight_query *q)
{
    return &qs->figures->tally.queries[q->tag & CLIENT_QUERY_CLASS];
}

static inline bool client_query_is_measured(const struct inflight_query *q)
{
    return (q->tag & CLIENT_QUERY_CLASS) == TALLY_MEASURED;
}

/* Prepares the table and the timer; what stands before them in the structure is set.  Returns 0 or
 * -1 (memory). */
int client_query_init(struct client_queries *qs);
void client_query_free(struct client_queries *qs);

/* No timer is set until the next call of client_query_arm_expiry(). */
void client_query_disarm_expiry(struct client_queries *qs);

/* A measured query has no answer and never will have one: `sent` or not. */
void client_query_unanswered(struct client_queries *qs, bool sent);

/* The query's time is over: it is given up.  Its connection may end by it. */
void client_query_expire(struct client_queries *qs, uint32_t slot, uint64_t now_ns);

/* Gives up every query whose timeout has passed. */
void client_query_expire_due(struct client_queries *qs);

/* Sets the timer, unless it is set. */
void client_query_arm_expiry(struct client_queries *qs);

/* The query was handed to its socket at sent_ns. */
void client_query_sent(struct client_queries *qs, struct inflight_query *q, uint64_t sent_ns);

/* Its queued queries find no id: those that have been due for the timeout are never sent.  The
 * connection may end by it. */
void client_query_give_up_blocked(struct client_queries *qs, struct client_conn *c);

/* The connection ends: each of its queries gets its outcome. */
void client_query_lost(struct client_queries *qs, struct client_conn *c, struct outcome outcome);

#endif
