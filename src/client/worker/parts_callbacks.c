/* SPDX-License-Identifier: MIT
 * client_parts_callbacks: see client/worker/parts_callbacks.h. */
#include "client/worker/parts_callbacks.h"

#include "base/clock.h"
#include "client/worker/conn.h"
#include "client/worker/parts_state.h"

static void on_established(void *owner, struct client_conn *c)
{
    struct client_parts *p = owner;

    if (p->transport.config->listens)
        client_subscribe_begin(&p->subscribe, c);
    else if (client_conn_needs_proof(c))
        client_dispatch_proof(&p->dispatch, c);
}

/* The slot has a usable connection again after recovery_ns. */
static void recovered(struct client_parts *p, const struct client_conn *c, uint64_t recovery_ns,
                      uint64_t now_ns)
{
    struct client_record *record = client_conn_record(c);

    hist_record(&p->transport.figures->recoveries, recovery_ns);
    if (record != NULL) {
        record->lost_ns = now_ns - recovery_ns;
        record->back_ns = now_ns;
    }
}

static void on_usable(void *owner, struct client_conn *c)
{
    struct client_parts *p = owner;
    const uint64_t now_ns = clock_now_ns();

    client_usable_add(&p->usable, c);
    if (client_slots_are_kept(&p->slots)) {
        const uint32_t slot = client_conn_slot(c);
        const uint64_t gap_ns = client_slots_become_usable(&p->slots, slot, now_ns);
        const uint64_t recovery_ns = client_slots_recover(&p->slots, slot, now_ns);

        if (gap_ns > 0)
            hist_record(&p->transport.figures->gaps, gap_ns);
        if (recovery_ns > 0)
            recovered(p, c, recovery_ns, now_ns);
    }
    if (p->transport.config->listens)
        client_subscribe_usable(&p->subscribe, c);
    if (p->transport.config->on_demand)
        client_demand_usable(&p->demand, c, now_ns);
    client_due_after(&p->due, c, now_ns);
    client_connect_settled(&p->connect, c);
    if (p->transport.config->conn_per_query)
        client_dispatch_opened(&p->dispatch, c);
}

static void on_unusable(void *owner, struct client_conn *c)
{
    struct client_parts *p = owner;

    client_usable_remove(&p->usable, c);
}

static void on_half_open(void *owner, struct client_conn *c)
{
    struct client_parts *p = owner;

    client_connect_settled(&p->connect, c);
}

static void on_answers(void *owner, struct client_conn *c, const uint8_t *data, size_t n_bytes,
                       uint64_t received_ns)
{
    struct client_parts *p = owner;

    client_answer_take(&p->answers, c, data, n_bytes, received_ns);
}

static void on_messages(void *owner, struct client_conn *c, const uint8_t *data, size_t n_bytes,
                        uint64_t received_ns)
{
    struct client_parts *p = owner;

    client_subscribe_take(&p->subscribe, c, data, n_bytes, received_ns);
}

static void on_demanded_answers(void *owner, struct client_conn *c, const uint8_t *data,
                                size_t n_bytes, uint64_t received_ns)
{
    struct client_parts *p = owner;

    client_demand_answers(&p->demand, c, data, n_bytes, received_ns);
}

static bool on_room(void *owner, struct client_conn *c)
{
    struct client_parts *p = owner;

    return client_send_waiting(&p->send, c);
}

static void on_ended(void *owner, struct client_conn *c, struct outcome outcome)
{
    struct client_parts *p = owner;

    client_query_lost(&p->queries, c, outcome);
    if (p->transport.config->on_demand)
        client_demand_ended(&p->demand, c, outcome);
}

void client_parts_follow_ends(struct client_parts *p)
{
    struct client_conn *c;
    struct outcome outcome;

    while ((c = client_conn_take_ended(&p->transport, &outcome)) != NULL) {
        if (p->transport.config->listens)
            client_subscribe_ended(&p->subscribe, c, outcome);
        client_connect_settled(&p->connect, c);
        client_turnover_ended(&p->turnover, c, outcome);
        if (p->transport.config->on_demand)
            client_demand_slot_freed(&p->demand, c);
        client_conn_per_query_ended(&p->conn_per_query, c);
    }
}

static void on_done(void *owner)
{
    struct client_parts *p = owner;

    client_parts_follow_ends(p);
    client_load_after_read(&p->load);
}

static void on_waited(void *owner, struct client_conn *c)
{
    struct client_parts *p = owner;

    if (c->state == CLIENT_CONN_CONNECTING) {
        client_connect_try(&p->connect, c);
        client_send_all(&p->send);
        on_done(owner);
    } else {
        client_turnover_waited(&p->turnover, c);
    }
}

#define CONN_OPS(on_data)                                                                          \
    {                                                                                              \
        .established = on_established, .usable = on_usable, .unusable = on_unusable,               \
        .half_open = on_half_open, .data = (on_data), .room = on_room, .ended = on_ended,          \
        .waited = on_waited, .done = on_done,                                                      \
    }

static const struct client_conn_ops query_ops = CONN_OPS(on_answers);
static const struct client_conn_ops demand_ops = CONN_OPS(on_demanded_answers);
static const struct client_conn_ops subscribe_ops = CONN_OPS(on_messages);

const struct client_conn_ops *client_parts_ops(const struct client_config *config)
{
    return config->listens ? &subscribe_ops : config->on_demand ? &demand_ops : &query_ops;
}
