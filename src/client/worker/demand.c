/* SPDX-License-Identifier: MIT
 * client_demand: see client/worker/demand.h. */
#include "client/worker/demand.h"

#include "client/worker/conn.h"
#include "protocol/dns_keepalive.h"

#include <stdbool.h>
#include <stdlib.h>

struct client_demand_client {
    struct inflight_list waiting; /* queries due while no connection was usable */
    bool was_usable;              /* the current connection */
    uint64_t n_sent_before;       /* queries sent on earlier connections */
    struct dns_keepalive answer;  /* the one that is arriving */
};

size_t client_demand_bytes(const struct client_config *config)
{
    if (!config->on_demand)
        return 0;
    return sizeof(struct client_demand_client) + client_idle_bytes(config) +
           (client_config_holds_connects(config) ? sizeof(struct client_hold_times) : 0);
}

int client_demand_init(struct client_demand *d)
{
    const uint32_t n = d->transport->n_conns;

    d->clients = calloc(n, sizeof *d->clients);
    if (d->clients == NULL)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        inflight_list_init(&d->clients[i].waiting);
    return 0;
}

void client_demand_free(struct client_demand *d)
{
    free(d->clients);
}

static struct client_demand_client *client_of(const struct client_demand *d,
                                              const struct client_conn *c)
{
    return &d->clients[client_conn_slot(c)];
}

static struct tally_demand *counts(const struct client_demand *d)
{
    return &d->transport->figures->tally.demand;
}

/* --- queries --- */

static void request(struct client_demand *d, uint32_t slot)
{
    if (d->connect->stopped)
        return;
    tally_add(&counts(d)->requested, 1);
    client_connect_reopen(d->connect, slot);
}

static uint32_t queue_on_open(struct client_demand *d, struct client_conn *c, uint64_t intended_ns,
                              uint8_t class)
{
    const uint32_t query =
        inflight_queue(&d->queries->inflight, &c->queries, client_conn_slot(c), intended_ns, class);

    if (query == INFLIGHT_NONE)
        return query;
    tally_add(&counts(d)->reused, 1);
    client_idle_leave(d->idle, c);
    client_send_join(d->send, c);
    return query;
}

static uint32_t queue_and_wait(struct client_demand *d, uint32_t slot, uint64_t intended_ns,
                               uint8_t class)
{
    struct inflight_list *waiting = &d->clients[slot].waiting;
    const bool is_first = waiting->head == INFLIGHT_NONE;
    const uint32_t query = inflight_queue(&d->queries->inflight, waiting, slot, intended_ns,
                                          (uint8_t)(class | CLIENT_QUERY_WAITED));

    if (query == INFLIGHT_NONE)
        return query;
    tally_add(&counts(d)->waited, 1);
    if (is_first && client_conn_is_free(&d->transport->conns[slot]))
        request(d, slot);
    return query;
}

uint32_t client_demand_queue(struct client_demand *d, uint32_t slot, uint64_t intended_ns,
                             uint8_t class)
{
    struct client_conn *c = &d->transport->conns[slot];

    return client_conn_is_usable(c) ? queue_on_open(d, c, intended_ns, class)
                                    : queue_and_wait(d, slot, intended_ns, class);
}

/* --- answers --- */

static void count_keepalive(struct client_demand *d, enum dns_keepalive_found found,
                            uint16_t timeout)
{
    struct tally_demand *counted = counts(d);

    tally_add(found == DNS_KEEPALIVE_TIMEOUT ? &counted->keepalives
              : found == DNS_KEEPALIVE_NONE  ? &counted->no_keepalive
                                             : &counted->bad_keepalive,
              1);
    if (found == DNS_KEEPALIVE_TIMEOUT)
        timeout_counts_add(&d->transport->figures->timeouts, timeout);
}

/* Takes a complete answer.  A late one is not counted, but its timeout is obeyed. */
static void take_answer(struct client_demand *d, struct client_conn *c, uint64_t received_ns)
{
    struct dns_keepalive *answer = &client_of(d, c)->answer;
    const enum dns_keepalive_found found = dns_keepalive_end(answer);
    const uint16_t timeout = answer->timeout;

    if (client_answer_take_one(d->answers, c, received_ns))
        count_keepalive(d, found, timeout);
    if (found == DNS_KEEPALIVE_TIMEOUT && c->state != CLIENT_CONN_ENDED)
        client_idle_allow(d->idle, c, timeout);
}

static void take_answers(struct client_demand *d, struct client_conn *c, struct query_input in,
                         uint64_t received_ns)
{
    const struct query *query = client_conn_query(c);
    enum query_event event = QUERY_REPLY;

    while (event == QUERY_REPLY && c->state != CLIENT_CONN_ENDED) {
        const uint8_t *from = in.data;

        event = query_next(query, &c->stream, &in);
        dns_keepalive_read(&client_of(d, c)->answer, from, (size_t)(in.data - from));
        if (event == QUERY_REPLY)
            take_answer(d, c, received_ns);
    }
    if (event == QUERY_MALFORMED)
        client_conn_close(c, (struct outcome){PHASE_PROTOCOL, REASON_MALFORMED}, 0);
}

void client_demand_answers(struct client_demand *d, struct client_conn *c, const uint8_t *data,
                           size_t n_bytes, uint64_t received_ns)
{
    if (d->transport->config->keepalive && n_bytes > 0)
        take_answers(d, c, (struct query_input){data, n_bytes}, received_ns);
    else
        client_answer_take(d->answers, c, data, n_bytes, received_ns);
    if (n_bytes > 0)
        client_idle_rest(d->idle, c, received_ns);
}

/* --- connections --- */

static void add_hold(struct client_demand *d, struct inflight_query *q, uint64_t hold_ns)
{
    struct client_figures *f = d->transport->figures;
    const uint64_t late_us = q->late_us + hold_ns / 1000;

    q->late_us = late_us < UINT32_MAX ? (uint32_t)late_us : UINT32_MAX;
    if (client_query_is_measured(q) && hold_ns > f->longest_hold_ns)
        f->longest_hold_ns = hold_ns;
}

/* Adds to how late each query was queued for how long this host's connect rate made it wait. */
static void add_holds(struct client_demand *d, const struct client_conn *c)
{
    const struct client_hold *hold = &d->connect->hold;
    struct inflight *t = &d->queries->inflight;

    if (!client_hold_is_kept(hold))
        return;
    for (uint32_t i = c->queries.head; i != INFLIGHT_NONE; i = inflight_at(t, i)->conn_next) {
        struct inflight_query *q = inflight_at(t, i);
        const uint64_t queued_ns = q->intended_ns + (uint64_t)q->late_us * 1000;

        add_hold(d, q, client_hold_ns(hold, client_conn_slot(c), queued_ns));
    }
}

void client_demand_usable(struct client_demand *d, struct client_conn *c, uint64_t now_ns)
{
    struct client_demand_client *client = client_of(d, c);

    tally_add(&counts(d)->opened, 1);
    client->was_usable = true;
    client->answer = (struct dns_keepalive){0};
    client_idle_allow_any(d->idle, c);
    c->queries = client->waiting;
    inflight_list_init(&client->waiting);
    add_holds(d, c);
    if (c->queries.head != INFLIGHT_NONE)
        client_send_join(d->send, c);
    client_idle_rest(d->idle, c, now_ns);
}

static void count_carried(struct client_demand *d, const struct client_conn *c)
{
    struct client_demand_client *client = client_of(d, c);
    const uint64_t n_sent = client_conn_record(c)->queries;
    const uint64_t n = n_sent - client->n_sent_before;

    client->n_sent_before = n_sent;
    tally_add(&counts(d)->carried, n);
    tally_add(&counts(d)->carried_by[tally_carried_class(n)], 1);
}

void client_demand_ended(struct client_demand *d, struct client_conn *c, struct outcome outcome)
{
    struct client_demand_client *client = client_of(d, c);

    client_idle_leave(d->idle, c);
    if (client->was_usable)
        count_carried(d, c);
    else
        client_query_unconnected(d->queries, &client->waiting, outcome);
    client->was_usable = false;
}

void client_demand_slot_freed(struct client_demand *d, const struct client_conn *c)
{
    if (client_of(d, c)->waiting.head != INFLIGHT_NONE)
        request(d, client_conn_slot(c));
}

/* --- the end --- */

void client_demand_stop(struct client_demand *d)
{
    client_connect_stop(d->connect);
    for (uint32_t i = 0; i < d->transport->n_conns; i++)
        client_query_unconnected(d->queries, &d->clients[i].waiting,
                                 (struct outcome){PHASE_RUN, REASON_CANCELLED});
}

void client_demand_count_withdrawn(struct client_demand *d)
{
    tally_add(&counts(d)->withdrawn, d->connect->reopen.n);
}
