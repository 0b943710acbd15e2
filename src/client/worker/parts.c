/* SPDX-License-Identifier: MIT
 * client_parts: see client/worker/parts.h. */
#include "client/worker/parts.h"

#include "client/worker/conn.h"
#include "client/worker/parts_callbacks.h"
#include "client/worker/parts_state.h"
#include "client/worker/tls.h"
#include "client/worker/udp.h"

#include <stdlib.h>

/* --- initialization --- */

static void place_transport(struct client_parts *p)
{
    const struct client_parts_params *params = &p->params;
    const struct client_config *config = params->config;

    p->transport = (struct client_transport){
        .config = config,
        .query = config->class_queries != NULL ? config->class_queries : &config->query,
        .ops = client_parts_ops(config),
        .owner = p,
        .base = params->base,
        .figures = params->figures,
        .first_conn = params->first_conn,
        .n_conns = params->n_conns,
        .worker = params->worker};
}

/* Tells each part which parts it uses. */
static void connect_parts(struct client_parts *p)
{
    struct client_figures *f = p->params.figures;
    struct client_stages *stages = p->params.stages;
    struct client_transport *t = &p->transport;

    place_transport(p);
    p->usable = (struct client_usable){.transport = t};
    p->due = (struct client_due){.transport = t, .span = &p->span};
    p->queries = (struct client_queries){
        .transport = t, .figures = f, .span = &p->span, .due = &p->due, .idle = &p->idle};
    p->send = (struct client_send){.transport = t, .queries = &p->queries};
    p->sizes = (struct client_sizes){.transport = t, .inflight = &p->queries.inflight};
    p->answers = (struct client_answers){.transport = t,
                                         .figures = f,
                                         .queries = &p->queries,
                                         .send = &p->send,
                                         .stages = stages,
                                         .sizes = &p->sizes};
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
    p->conn_per_query =
        (struct client_conn_per_query){.transport = t, .slots = &p->slots, .connect = &p->connect};
    p->dispatch = (struct client_dispatch){.transport = t,
                                           .span = &p->span,
                                           .due = &p->due,
                                           .queries = &p->queries,
                                           .send = &p->send,
                                           .slots = &p->slots,
                                           .usable = &p->usable,
                                           .pool = &p->pool,
                                           .turnover = &p->turnover,
                                           .demand = &p->demand,
                                           .conn_per_query = &p->conn_per_query};
    p->load = (struct client_load){.transport = t,
                                   .targets = p->params.targets,
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
    const struct client_parts_params *params = &p->params;
    const struct client_config *config = params->config;

    if (config->queries_per_conn == 0 && !client_config_keeps_opening(config) &&
        config->targets == NULL)
        return 0;
    return client_slots_init(&p->slots, params->n_conns, config->seed, params->worker) != 0 ||
                   client_usable_keep(&p->usable) != 0 || hist_init(&params->figures->gaps) != 0 ||
                   hist_init(&params->figures->recoveries) != 0
               ? -1
               : 0;
}

struct client_parts *client_parts_new(const struct client_parts_params *params)
{
    struct client_parts *p = calloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    p->params = *params;
    connect_parts(p);
    return p;
}

int client_parts_init(struct client_parts *p)
{
    if (client_transport_init(&p->transport) != 0 || client_tls_init(&p->transport) != 0 ||
        client_udp_init(&p->transport) != 0)
        return -1;
    client_turnover_init(&p->turnover);
    if (p->params.config->listens && client_subscribe_init(&p->subscribe) != 0)
        return -1;
    if (p->params.config->on_demand &&
        (client_idle_init(&p->idle) != 0 || client_demand_init(&p->demand) != 0))
        return -1;
    return init_slots(p) != 0 || client_due_init(&p->due) != 0 ||
                   client_dispatch_init(&p->dispatch) != 0 || client_query_init(&p->queries) != 0 ||
                   client_send_init(&p->send) != 0 || client_load_init(&p->load) != 0 ||
                   client_connect_init(&p->connect) != 0 ||
                   client_conn_per_query_init(&p->conn_per_query) != 0 ||
                   client_sizes_init(&p->sizes) != 0
               ? -1
               : 0;
}

void client_parts_release(struct client_parts *p)
{
    client_load_free(&p->load);
    client_query_free(&p->queries);
    client_send_free(&p->send);
    client_due_free(&p->due);
    client_dispatch_free(&p->dispatch);
    client_connect_free(&p->connect);
    client_conn_per_query_free(&p->conn_per_query);
    client_sizes_free(&p->sizes);
    client_slots_free(&p->slots);
    client_usable_free(&p->usable);
    client_pool_free(&p->pool);
    client_subscribe_free(&p->subscribe);
    client_demand_free(&p->demand);
    client_idle_free(&p->idle);
    client_tls_free(&p->transport);
    client_udp_free(&p->transport);
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
    client_parts_follow_ends(p);
}

void client_parts_open_all(struct client_parts *p)
{
    client_connect_beyond_first_window(&p->connect);
}

void client_parts_open_no_more(struct client_parts *p)
{
    client_connect_no_more(&p->connect);
}

void client_parts_start(struct client_parts *p, const bool *takes_arrivals, uint64_t start_ns)
{
    client_connect_beyond_first_window(&p->connect);
    client_load_start(&p->load, takes_arrivals, start_ns);
    client_turnover_follow(&p->turnover, start_ns + p->params.config->warmup_ns);
    client_parts_follow_ends(p);
}

void client_parts_steer(struct client_parts *p)
{
    struct client_targets_copy *targets = p->params.targets;

    client_targets_update(targets, p->params.config->targets);
    p->turnover.queries_per_conn = targets->queries_per_conn;
    if (p->params.config->sizes != NULL)
        client_sizes_change(&p->sizes, targets->size);
    client_load_follow(&p->load);
    if (p->params.config->population.n == 0)
        client_turnover_request(
            &p->turnover, atomic_load_explicit(&targets->n_connections, memory_order_relaxed));
    client_parts_follow_ends(p);
    client_targets_mark_reached(targets);
}

void client_parts_stop(struct client_parts *p)
{
    client_turnover_cancel(&p->turnover);
    client_load_stop(&p->load);
    client_parts_follow_ends(p);
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

/* Whether the connection was answered, and no query of it has timed out since. */
static bool is_answering(const struct client_conn *c)
{
    return c->state == CLIENT_CONN_LIVE && c->proven && c->n_unheard == 0;
}

void client_parts_close(struct client_parts *p)
{
    struct client_transport *t = &p->transport;

    client_turnover_stop(&p->turnover);
    for (uint32_t i = 0; i < t->n_conns; i++)
        tally_add(&t->figures->tally.connections.answering, is_answering(&t->conns[i]));
    for (uint32_t i = 0; i < t->n_conns; i++)
        if (t->conns[i].state != CLIENT_CONN_NEW)
            client_conn_close(&t->conns[i], final_outcome(&t->conns[i]), 0);
    client_turnover_count_missing(&p->turnover);
    client_parts_follow_ends(p);
    if (p->params.config->on_demand)
        client_demand_count_withdrawn(&p->demand);
}

bool client_parts_before_turn(struct client_parts *p)
{
    client_parts_follow_ends(p);
    client_load_check_drained(&p->load);
    return client_load_before_turn(&p->load);
}
