/* SPDX-License-Identifier: MIT
 * setup: see setup.h. */
#include "setup.h"

#include "ports.h"
#include "protocol/query_init.h"
#include "setup_classes.h"
#include "tls_setup.h"
#include "violation.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define US 1000ull

enum { PORTS_PER_ADDRESS = 40000 };

void setup_target(struct sock_address *target, uint16_t port)
{
    const struct sockaddr_in in = {.sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr.s_addr = htonl(PORTS_PEER_ADDRESS)};

    memcpy(&target->ss, &in, sizeof in);
    target->length = sizeof in;
}

/* Percent of the connections have a tuple, on two addresses or, of very many, on more. */
static void plan_ports(struct client_config *c, const struct scenario *s)
{
    const uint64_t n_tuples = c->n_connections * s->planned_ports / 100;
    const unsigned n_addresses = (unsigned)(n_tuples / PORTS_PER_ADDRESS) + 2;
    char error[SRCPLAN_ERROR_BYTES], sources[64], ports[64];

    srcplan_init(&c->plan);
    srcplan_init(&c->fallback);
    if (s->planned_ports == 0)
        return;
    snprintf(sources, sizeof sources, "10.1.0.1-10.1.0.%u", n_addresses);
    snprintf(ports, sizeof ports, "20000-%u", (unsigned)(20000 + n_tuples / n_addresses));
    LAW(srcplan_add_sources(&c->plan, sources, error) == 0 &&
            srcplan_add_ports(&c->plan, ports, error) == 0,
        "%s", error);
}

static void plan_identities(struct client_config *c, const struct scenario *s)
{
    static const uint8_t network[] = {SETUP_IDENTITIES_NETWORK};
    char error[SRCPLAN_ERROR_BYTES], sources[64];

    srcplan_init(&c->identities);
    c->proxy = (enum proxy_header_version)s->proxy;
    snprintf(sources, sizeof sources, "%u.%u.%u.0-%u", network[0], network[1], network[2],
             SETUP_IDENTITIES - 1);
    LAW(srcplan_add_sources(&c->identities, sources, error) == 0, "%s", error);
}

static void plan_load(struct client_config *c, const struct scenario *s)
{
    c->arrival = s->poisson ? PACER_POISSON : PACER_CONSTANT;
    c->select = s->random_select ? CLIENT_SELECT_RANDOM : CLIENT_SELECT_ROUND_ROBIN;
    c->loop = s->closed_loop ? CLIENT_LOOP_CLOSED : CLIENT_LOOP_OPEN;
    c->interval_ns = s->interval_us * US;
    c->seed = s->seed;
    c->pace = (int)s->pace;
    c->waiting_share = s->pace == CLIENT_PACE_SLEEP ? 0 : 1;
    c->warmup_ns = s->warmup_us * US;
    c->duration_ns = s->duration_us * US;
    c->drain_ns = s->drain_us * US;
    c->timeout_ns = s->timeout_us * US;
    c->on_timeout = s->close_on_timeout ? CLIENT_TIMEOUT_CLOSE : CLIENT_TIMEOUT_KEEP;
    schedule_constant(&c->schedule, client_config_load_ns(c),
                      s->closed_loop || s->listen ? 0 : (double)s->rate_qps);
}

/* Up, down to s->population, and up again, in thirds of the measurement. */
static void plan_population(struct client_config *c, const struct scenario *s)
{
    const uint64_t third_ns = c->duration_ns / 3;
    const uint64_t n_least = s->population < s->connections ? s->population : s->connections;
    const double most = (double)s->connections, least = (double)n_least;

    if (s->population == 0)
        return;
    c->population.n = 3;
    c->population.segments[0] = (struct pacer_segment){third_ns, least, most};
    c->population.segments[1] = (struct pacer_segment){third_ns, most, least};
    c->population.segments[2] = (struct pacer_segment){c->duration_ns - 2 * third_ns, least, most};
}

static void plan_connections(struct client_config *c, const struct scenario *s)
{
    c->n_connections = (uint32_t)s->connections;
    c->n_at_begin = s->steps > 0 ? (uint32_t)((s->connections + 1) / 2) : c->n_connections;
    c->conn_per_query = setup_has_conn_per_query(s);
    c->n_workers = (uint32_t)s->workers;
    c->socket.stamp_received = s->stamps;
    c->socket.datagrams = setup_is_udp(s);
    if (c->n_workers > c->n_at_begin)
        c->n_workers = c->n_at_begin;
    if (c->conn_per_query)
        c->n_at_begin = 0;
    c->connect_rate_per_s = (double)s->connect_rate;
    c->connect_arrival =
        s->connect_rate > 0 && !c->conn_per_query ? (int)s->connect_arrival : CLIENT_CONNECT_WINDOW;
    c->connect_window = (uint32_t)s->connect_window;
    c->connect_timeout_ns = s->connect_timeout_us * US;
    c->on_demand = c->record_connections = s->on_demand;
    c->idle_close_ns = s->idle_close_us * US;
    c->keepalive = s->keepalive && s->on_demand && s->protocol == QUERY_DNS;
    c->prove =
        s->prove && !c->on_demand && !c->conn_per_query; /* one field at a time is shortened */
    c->close = s->close_with_rst ? CLIENT_CLOSE_RST : CLIENT_CLOSE_FIN;
    c->queries_per_conn = (uint32_t)s->queries_per_conn;
    c->reconnect = s->reconnect || s->queries_per_conn > 0 || c->conn_per_query;
    c->backoff = (struct backoff){s->backoff_us * US, 10 * s->backoff_us * US};
}

static void plan_tls(struct client_config *c, const struct scenario *s)
{
    c->tls = s->tls > 0 ? tls_setup_client(s->tls_resume != 0) : NULL;
    c->own_fd_tables = s->own_tables;
}

static void plan_query(struct client_config *c, const struct scenario *s)
{
    const struct query_ask ask = {
        .size_bytes = s->message_bytes,
        .edns = {.udp_bytes = (uint16_t)s->edns_bytes, .keepalive = c->keepalive}};
    char error[QUERY_ERROR_BYTES];
    c->listens = s->listen;
    if (!c->listens)
        LAW(query_init(&c->query, (enum query_kind)s->protocol, &ask, error) == 0, "%s", error);
}

bool setup_is_udp(const struct scenario *s)
{
    return s->udp && s->protocol == QUERY_DNS && !s->on_demand && !s->listen &&
           !s->conn_per_query && s->tls + s->proxy + s->connect_arrival == 0;
}

bool setup_has_conn_per_query(const struct scenario *s)
{
    return s->conn_per_query && s->classes == 0 && !s->on_demand && !s->closed_loop && !s->listen &&
           s->population == 0 && s->steps == 0 && s->queries_per_conn == 0;
}

uint32_t setup_n_classes(const struct scenario *s)
{
    if (s->listen || s->population > 0 || s->steps > 0)
        return 0;
    return (uint32_t)(s->classes < s->connections ? s->classes : s->connections);
}

void setup_make(struct client_config *c, const struct scenario *s)
{
    *c = (struct client_config){.quiet = true};
    setup_target(&c->target, PORTS_PEER_PORT);
    plan_load(c, s);
    plan_connections(c, s);
    plan_population(c, s);
    plan_ports(c, s);
    plan_identities(c, s);
    plan_query(c, s);
    plan_tls(c, s);
    setup_classes_make(c, s);
}

void setup_free(struct client_config *c)
{
    srcplan_free(&c->plan);
    srcplan_free(&c->fallback);
    srcplan_free(&c->identities);
    setup_classes_free(c);
    query_free(&c->query);
}
