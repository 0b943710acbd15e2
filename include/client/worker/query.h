/* SPDX-License-Identifier: MIT
 * client_query: the life of a query from the moment it is sent: answered, given up, or lost with
 * its connection; what each counts for.  When and where it is sent is client_load's.  Used by its
 * worker's thread. */
#ifndef TCPSCALER_CLIENT_WORKER_QUERY_H
#define TCPSCALER_CLIENT_WORKER_QUERY_H

#include "client/worker/worker.h"
#include "measure/outcome.h"
#include "measure/tally.h"
#include "workload/inflight.h"

#include <stdbool.h>
#include <stdint.h>

/* inflight_query.tag: the tally class, and whether it has been counted as blocked. */
enum { CLIENT_QUERY_CLASS = 0x0f, CLIENT_QUERY_BLOCKED = 0x10 };

static inline struct tally_queries *client_query_counts(struct client_worker *cw,
                                                        const struct inflight_query *q)
{
    return &cw->tally.queries[q->tag & CLIENT_QUERY_CLASS];
}

static inline bool client_query_is_measured(const struct inflight_query *q)
{
    return (q->tag & CLIENT_QUERY_CLASS) == TALLY_MEASURED;
}

/* Prepares the timer of the oldest query. */
void client_query_init(struct client_worker *cw);

/* A measured query has no answer and never will have one: `sent` or not. */
void client_query_unanswered(struct client_worker *cw, bool sent);

/* Gives up every query whose timeout has passed. */
void client_query_expire_due(struct client_worker *cw);

/* Sets it, unless it is set. */
void client_query_arm_expiry(struct client_worker *cw);

/* The query was handed to its socket at sent_ns. */
void client_query_sent(struct client_worker *cw, struct inflight_query *q, uint64_t sent_ns);

/* Its queued queries find no id: those that have been due for the timeout are never sent.  The
 * connection may end by it. */
void client_query_give_up_blocked(struct client_conn *c);

/* A complete answer, the last one of c->stream.  The connection may end by it. */
void client_query_answer(struct client_conn *c, uint64_t received_ns);

/* The connection ends: each of its queries gets its outcome. */
void client_query_lost(struct client_conn *c, struct outcome outcome);

#endif
