/* SPDX-License-Identifier: MIT
 * client_answer: what a worker's connections receive, from bytes to the credit of the query that
 * each answer is to.  Used by its worker's thread. */
#ifndef TCPSCALER_CLIENT_WORKER_ANSWER_H
#define TCPSCALER_CLIENT_WORKER_ANSWER_H

#include "client/worker/query.h"
#include "client/worker/send.h"
#include "client/worker/stage.h"
#include "client/worker/transport.h"

#include <stddef.h>
#include <stdint.h>

struct client_answers {
    struct client_transport *transport;
    struct client_figures *figures;
    struct client_queries *queries;
    struct client_send *send; /* an answer may free the id that a queued query waits for */
    const struct client_stages *stages;
};

/* Takes the answers in bytes of the protocol; n_bytes 0: the peer has closed its half.  The
 * connection may end by it. */
void client_answer_take(struct client_answers *a, struct client_conn *c, const uint8_t *data,
                        size_t n_bytes, uint64_t received_ns);

#endif
