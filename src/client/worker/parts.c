/* SPDX-License-Identifier: MIT
 * client_parts: see client/worker/parts.h.  Each part knows the parts it uses; only this one knows
 * all of them, and forwards the callbacks of connections. */
#include "client/worker/parts.h"

#include "base/clock.h"
#include "client/worker/answer.h"
#include "client/worker/conn.h"
#include "client/worker/connect.h"
#include "client/worker/demand.h"
#include "client/worker/dispatch.h"
#include "client/worker/due.h"
#include "client/worker/idle.h"
#include "client/worker/load.h"
#include "client/worker/pool.h"
#include "client/worker/query.h"
#include "client/worker/send.h"
#include "client/worker/slots.h"
#include "client/worker/subscribe.h"
#include "client/worker/tls.h"
#include "client/worker/turnover.h"

#include <stdlib.h>

struct client_parts {
    struct client_parts_place place;
    struct client_span span;
    struct client_transport transport;
    struct client_pool pool;
    struct client_slots slots;
    struct client_due due;
    struct client_queries queries;
    struct client_send send;
    struct client_answers answers;
    struct client_connect connect;
    struct client_turnover turnover;
    struct client_idle idle;
    struct client_demand demand;
    struct client_subscribe subscribe;
    struct client_arrive arrive;
    struct client_dispatch dispatch;
    struct client_load load;
};

/* --- callbacks of connections --- */

static void on_established(void *owner, struct client_conn *c)
{
    struct client_parts *p = owner;
    const struct client_config *config = p->transport.config;

    if (config->listens)
        client_subscribe_begin(&p->subscribe, c);
    else if (config->prove)
        client_dispatch_proof(&p->dispatch, c);
}

static void on_usable(void *owner, struct client_conn *c)
{
    struct client_parts *p = owner;
    const uint64_t now_ns = clock_now_ns();

    if (client_slots_are_kept(&p->slots)) {
        const uint32_t slot = client_conn_slot(c);
        const uint64_t gap_ns = client_slots_add_usable(&p->slots, slot, now_ns);
        const uint64_t recovery_ns = client_slots_recover(&p->slots, slot, now_ns);

        if (gap_ns > 0)
            hist_record(&p->transport.figures->gaps, gap_ns);
        if (recovery_ns > 0)
            hist_record(&p->transport.figures->recoveries, recovery_ns);
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

    if (client_slots_are_kept(&p->slots))
        client_slots_remove_usable(&p->slots, client_conn_slot(c));
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

static void on_waited(void *owner, struct client_conn *c)
{
    struct client_parts *p = owner;

    client_turnover_waited(&p->turnover, c);
}

/* Handles ended connections.  Opens and closes none. */
static void follow_ends(struct client_parts *p)
{
    struct client_conn *c;
    struct outcome outcome;

    while ((c = client_conn_take_ended(&p->transport, &outcome)) != NULL) {
        if (p->transport.config->listens)
            client_subscribe_ended(&p->subscribe, c);
        client_connect_settled(&p->connect, c);
        client_turnover_ended(&p->turnover, c, outcome);
        if (p->transport.config->on_demand)
            client_demand_free_again(&p->demand, c);
        client_arrive_ended(&p->arrive, c);
    }
}

static void on_done(void *owner)
{
    struct client_parts *p = owner;

    follow_ends(p);
    client_load_after_read(&p->load);
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

static const struct client_conn_ops *ops_of(const struct client_config *config)
{
    return config->listens ? &subscribe_ops : config->on_demand ? &demand_ops : &query_ops;
}

/* --- initialization --- */

/* Tells each part which parts it uses. */
static void connect_parts(struct client_parts *p)
{
    const struct client_parts_place *place = &p->place;
    struct client_figures *f = place->figures;
    struct client_stages *stages = place->stages;
    struct client_transport *t = &p->transport;

    p->transport = (struct client_transport){.config = place->config,
                                             .query = &place->config->query,
                                             .ops = ops_of(place->config),
                                             .owner = p,
                                             .base = place->base,
                                             .figures = f,
                                             .first_conn = place->first_conn,
                                             .n_conns = place->n_conns,
                                             .worker = place->worker};
    p->due = (struct client_due){.transport = t, .span = &p->span};
    p->queries = (struct client_queries){
        .transport = t, .figures = f, .span = &p->span, .due = &p->due, .idle = &p->idle};
    p->send = (struct client_send){.transport = t, .queries = &p->queries};
    p->answers = (struct client_answers){
        .transport = t, .figures = f, .queries = &p->queries, .send = &p->send, .stages = stages};
    p->connect = (struct client_connect){.transport = t,
                                         .slots = &p->slots,
                                         .pool = &p->pool,
                                         .send = &p->send,
                                         .stages = stages,
                                         .span = &p->span};
    p->turnover = (struct client_turnover){
        .transport = t, .slots = &p->slots, .pool = &p->pool, .connect = &p->connect};
    p->idle = (struct client_idle){.transport = t};
    p->demand = (struct client_demand){.transport = t,
                                       .connect = &p->connect,
                                       .queries = &p->queries,
                                       .send = &p->send,
                                       .answers = &p->answers,
                                       .idle = &p->idle};
    p->subscribe = (struct client_subscribe){.transport = t, .span = &p->span, .stages = stages};
    p->arrive = (struct client_arrive){.transport = t, .slots = &p->slots, .connect = &p->connect};
    p->dispatch = (struct client_dispatch){.transport = t,
                                           .span = &p->span,
                                           .due = &p->due,
                                           .queries = &p->queries,
                                           .send = &p->send,
                                           .slots = &p->slots,
                                           .pool = &p->pool,
                                           .turnover = &p->turnover,
                                           .demand = &p->demand,

                                           .arrive = &p->arrive};
    p->load = (struct client_load){.transport = t,
                                   .targets = p->place.targets,
                                   .span = &p->span,
                                   .stages = stages,
                                   .due = &p->due,
                                   .dispatch = &p->dispatch,
                                   .queries = &p->queries,
                                   .send = &p->send,
                                   .turnover = &p->turnover,
                                   .subscribe = &p->subscribe,
                                   .demand = &p->demand};
}

/* Slots are kept if connections can be replaced. */
static int init_slots(struct client_parts *p)
{
    const struct client_parts_place *place = &p->place;
    const struct client_config *config = place->config;

    if (config->queries_per_conn == 0 && !client_config_keeps_opening(config) &&
        config->targets == NULL)
        return 0;
    return client_slots_init(&p->slots, place->n_conns, config->seed, place->worker) != 0 ||
                   hist_init(&place->figures->gaps) != 0 ||
                   hist_init(&place->figures->recoveries) != 0
               ? -1
               : 0;
}

struct client_parts *client_parts_new(const struct client_parts_place *place)
{
    struct client_parts *p = calloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    p->place = *place;
    connect_parts(p);
    return p;
}

int client_parts_init(struct client_parts *p)
{
    if (client_transport_init(&p->transport) != 0 || client_tls_init(&p->transport) != 0)
        return -1;
    client_turnover_init(&p->turnover);
    client_dispatch_init(&p->dispatch);
    if (p->place.config->listens && client_subscribe_init(&p->subscribe) != 0)
        return -1;
    if (p->place.config->on_demand &&
        (client_idle_init(&p->idle) != 0 || client_demand_init(&p->demand) != 0))
        return -1;
    return init_slots(p) != 0 || client_due_init(&p->due) != 0 ||
                   client_query_init(&p->queries) != 0 || client_send_init(&p->send) != 0 ||
                   client_load_init(&p->load) != 0 || client_connect_init(&p->connect) != 0 ||
                   client_arrive_init(&p->arrive) != 0
               ? -1
               : 0;
}

void client_parts_release(struct client_parts *p)
{
    client_load_free(&p->load);
    client_query_free(&p->queries);
    client_send_free(&p->send);
    client_due_free(&p->due);
    client_connect_free(&p->connect);
    client_arrive_free(&p->arrive);
    client_slots_free(&p->slots);
    client_pool_free(&p->pool);
    client_subscribe_free(&p->subscribe);
    client_demand_free(&p->demand);
    client_idle_free(&p->idle);
    client_tls_free(&p->transport);
    client_transport_free(&p->transport);
}

void client_parts_free(struct client_parts *p)
{
    free(p);
}

/* --- control by the worker --- */

void client_parts_open(struct client_parts *p, uint64_t start_ns)
{
    client_connect_start(&p->connect, start_ns);
    follow_ends(p);
}

void client_parts_open_all(struct client_parts *p)
{
    client_connect_beyond_first_window(&p->connect);
}

void client_parts_start(struct client_parts *p, const bool *takes_arrivals, uint64_t start_ns)
{
    client_connect_beyond_first_window(&p->connect);
    client_load_start(&p->load, takes_arrivals, start_ns);
    client_turnover_follow(&p->turnover, start_ns + p->place.config->warmup_ns);
    follow_ends(p);
}

void client_parts_steer(struct client_parts *p)
{
    struct client_targets_copy *targets = p->place.targets;

    client_targets_update(targets, p->place.config->targets);
    p->turnover.queries_per_conn = targets->queries_per_conn;
    if (p->place.config->sizes != NULL)
        p->transport.query = &p->place.config->sizes[targets->size];
    client_load_follow(&p->load);
    client_turnover_request(
        &p->turnover,
        pacer_connections_of(targets->n_connections, p->place.config->n_workers, p->place.worker));
    follow_ends(p);
    client_targets_mark_reached(targets);
}

void client_parts_stop(struct client_parts *p)
{
    client_turnover_cancel(&p->turnover);
    client_load_stop(&p->load);
    follow_ends(p);
}

static struct outcome final_outcome(const struct client_conn *c)
{
    switch (c->state) {
    case CLIENT_CONN_LIVE:
    case CLIENT_CONN_FINISHING:
        return (struct outcome){PHASE_RUN, REASON_FINISHED};
    case CLIENT_CONN_HALF_OPEN:
        return (struct outcome){PHASE_RECEIVE, REASON_HALF_OPEN};
    default:
        return (struct outcome){PHASE_RUN, REASON_CANCELLED};
    }
}

void client_parts_close(struct client_parts *p)
{
    struct client_transport *t = &p->transport;

    client_turnover_stop(&p->turnover);
    for (uint32_t i = 0; i < t->n_conns; i++)
        if (t->conns[i].state != CLIENT_CONN_NEW)
            client_conn_close(&t->conns[i], final_outcome(&t->conns[i]), 0);
    client_turnover_count_missing(&p->turnover);
    follow_ends(p);
    if (p->place.config->on_demand)
        client_demand_count_withdrawn(&p->demand);
}

bool client_parts_before_turn(struct client_parts *p)
{
    follow_ends(p);
    client_load_check_drained(&p->load);
    return client_load_before_turn(&p->load);
}
