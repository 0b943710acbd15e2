/* SPDX-License-Identifier: MIT
 * client_answer: finds answers in received bytes and credits each to its query.  Used by the
 * worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_ANSWER_H
#define TCPSCALER_CLIENT_WORKER_ANSWER_H

#include "client/worker/query.h"
#include "client/worker/send.h"
#include "client/worker/sizes.h"
#include "client/worker/stage.h"
#include "client/worker/transport.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client_answers {
    struct client_transport *transport;
    struct client_figures *figures;
    struct client_queries *queries;
    struct client_send *send; /* an answer may free the id that a queued query is waiting for */
    const struct client_stages *stages;
    const struct client_sizes *sizes;
};

/* Processes the complete answer at the end of c->stream.  Returns whether a query was answered in
 * time.  May close the connection. */
bool client_answer_take_one(struct client_answers *a, struct client_conn *c, uint64_t received_ns);

/* Processes received bytes of the protocol; with UDP, a datagram with its length.  n_bytes 0: the
 * peer closed its half of the connection.  May close the connection. */
void client_answer_take(struct client_answers *a, struct client_conn *c, const uint8_t *data,
                        size_t n_bytes, uint64_t received_ns);

#endif
