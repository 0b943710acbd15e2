/* SPDX-License-Identifier: MIT
 * conn_ops_steps: the owner of connections that does nothing about what happens to them. */
#ifndef TCPSCALER_TESTS_UNIT_CLIENT_WORKER_CONN_OPS_STEPS_H
#define TCPSCALER_TESTS_UNIT_CLIENT_WORKER_CONN_OPS_STEPS_H

#include "client/worker/conn.h"

static inline void ignore_change(void *owner, struct client_conn *c)
{
    (void)owner;
    (void)c;
}

static inline void ignore_data(void *owner, struct client_conn *c, const uint8_t *data,
                               size_t n_bytes, uint64_t received_ns)
{
    (void)owner;
    (void)c;
    (void)data;
    (void)n_bytes;
    (void)received_ns;
}

static inline bool has_nothing_to_send(void *owner, struct client_conn *c)
{
    (void)owner;
    (void)c;
    return false;
}

static inline void ignore_end(void *owner, struct client_conn *c, struct outcome outcome)
{
    (void)owner;
    (void)c;
    (void)outcome;
}

static inline void ignore_turn(void *owner)
{
    (void)owner;
}

static const struct client_conn_ops ignoring_ops = {.established = ignore_change,
                                                    .usable = ignore_change,
                                                    .unusable = ignore_change,
                                                    .data = ignore_data,
                                                    .room = has_nothing_to_send,
                                                    .ended = ignore_end,
                                                    .done = ignore_turn};

#endif
