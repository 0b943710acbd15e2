/* SPDX-License-Identifier: MIT
 * random: a random scenario for tcpclient. */
#include "client/worker/config.h"
#include "draw.h"
#include "drive.h"
#include "peer_restart.h"

static void draw_load(struct scenario *s, struct rng *r)
{
    s->connections = of_any_size(r, 1, 60);
    s->workers = one_in(r, 3) ? between(r, 1, s->connections < 4 ? s->connections : 4) : 1;
    s->rate_qps = of_any_size(r, 50, 20000);
    s->duration_us = of_any_size(r, 1000, 200000);
    while (s->rate_qps * s->duration_us > 1000 * 1000000ull)
        s->rate_qps /= 2;
    draw_size(r, 3, &s->warmup_us, 1, 50000);
    s->settle_us = of_any_size(r, 1, 20000);
    s->timeout_us = one_in(r, 2) ? of_any_size(r, 100, 20000) : of_any_size(r, 20000, 2000000);
    s->drain_us = one_in(r, 4) ? of_any_size(r, 1, 100000) : s->timeout_us;
    s->poisson = between(r, 0, 1);
    s->random_select = between(r, 0, 1);
    s->protocol = one_in(r, 2) ? 0 : between(r, 0, 2);
    s->message_bytes = one_in(r, 4) ? of_any_size(r, 1, 65536) : of_any_size(r, 1, 500);
    s->pace = between(r, 1, one_in(r, 8) ? 3 : 2);
    s->tick_us = of_any_size(r, 1000, 1000000);
    s->close_with_rst = between(r, 0, 1);
    s->close_on_timeout = one_in(r, 4);
    s->prove = !one_in(r, 4);
    if (one_in(r, 5)) {
        s->closed_loop = 1;
        s->interval_us = of_any_size(r, 1, 20000) - 1;
        if (s->interval_us < 100)
            s->duration_us = s->duration_us > 20000 ? 20000 : s->duration_us;
    }
}

static void draw_connections(struct scenario *s, struct rng *r)
{
    draw_size(r, 3, &s->connect_window, 1, 100);
    draw_size(r, 4, &s->connect_rate, 100, 100000);
    if (s->connect_rate > 0)
        draw_between(r, 2, &s->connect_arrival, 1, 2);
    s->conn_per_query = one_in(r, 6);
    draw_size(r, 3, &s->connect_timeout_us, 100, 3000000);
    draw_size(r, 5, &s->queries_per_conn, 1, 20);
    s->reconnect = one_in(r, 4);
    draw_between(r, 4, &s->planned_ports, 50, 300);
    if (one_in(r, 10) && !s->closed_loop)
        s->population = of_any_size(r, 1, s->connections);
    else if (one_in(r, 8) && !s->closed_loop)
        s->steps = of_any_size(r, 1, 10);
    draw_between(r, 4, &s->proxy, 1, 2);
    draw_size(r, 8, &s->stop_us, 1, 400000);
    draw_between(r, 20, &s->memory_grant, 1, s->connections);
}

static void draw_network(struct scenario *s, struct rng *r)
{
    draw_latency(s, r);
    draw_size(r, 4, &s->sndbuf_bytes, 1, 20000);
    draw_size(r, 4, &s->coalesce_us, 1, 5000);
    draw_between(r, 4, &s->split_permille, 1, 1000);
    draw_lost_syns(s, r);
}

static void draw_peer(struct scenario *s, struct rng *r)
{
    draw_size(r, 3, &s->service_us, 1, 2000);
    s->service_random = between(r, 0, 1);
    if (one_in(r, 4)) {
        s->stall_every_us = of_any_size(r, 100, 200000);
        s->stall_us = of_any_size(r, 1, s->stall_every_us);
    }
    draw_size(r, 6, &s->accept_queue, 1, 30);
    draw_size(r, 8, &s->most_served, 1, 50);
    if (one_in(r, 10))
        s->refused_permille = one_in(r, 4) ? 1000 : between(r, 1, 500);
    draw_between(r, 10, &s->deaf_permille, 1, 1000);
}

static void draw_answers(struct scenario *s, struct rng *r)
{
    draw_between(r, 5, &s->lost_permille, 1, 300);
    if (one_in(r, 4)) {
        s->late_permille = between(r, 1, 500);
        s->late_us = one_in(r, 2) ? s->timeout_us : of_any_size(r, 1, 2 * s->timeout_us);
    }
    draw_between(r, 6, &s->duplicate_permille, 1, 300);
    draw_between(r, 8, &s->wrong_id_permille, 1, 100);
    draw_between(r, 12, &s->malformed_permille, 1, 50);
    draw_between(r, 8, &s->fin_permille, 1, 100);
    draw_between(r, 8, &s->reset_permille, 1, 100);
}

/* Half of all scenarios have none. */
static void draw_faults(struct scenario *s, struct rng *r)
{
    if (one_in(r, 2))
        return;
    draw_between(r, 20, &s->start_permille, 1, 500);
    draw_between(r, 5, &s->socket_permille, 1, 200);
    draw_between(r, 5, &s->bind_permille, 1, 300);
    draw_between(r, 5, &s->connect_permille, 1, 200);
    draw_io_faults(s, r);
    draw_between(r, 8, &s->watch_permille, 1, 100);
    if (one_in(r, 10))
        s->malloc_ppm = one_in(r, 2) ? of_any_size(r, 10, 50000) : between(r, 20000, 300000);
    draw_between(r, 10, &s->fd_limit, 6, 60);
}

static void draw_host(struct scenario *s, struct rng *r)
{
    static const uint64_t steps_ns[] = {1, 1, 1, 1, 1000, 100000};

    s->call_ns = of_any_size(r, s->pace == 1 ? 50 : 1000, 5000);
    draw_size(r, 2, &s->wakeup_us, 1, 3000);
    s->clock_step_ns = steps_ns[rng_below(r, 6)];
    if (s->clock_step_ns > 1) /* so that times coincide exactly */
        s->call_ns = s->clock_step_ns / 10 > s->call_ns ? s->clock_step_ns / 10 : s->call_ns;
    draw_scheduling(s, r);
    s->stamps = s->clock_step_ns == 1 && between(r, 0, 1);
}

/* Some listen instead. */
static void draw_listening(struct scenario *s, struct rng *r)
{
    if (!one_in(r, 8))
        return;
    s->listen = s->clock_step_ns = 1; /* the sender gives the time */
    s->pushed_bytes = of_any_size(r, 64, one_in(r, 8) ? 65536 : 1000);
    s->closed_loop = s->queries_per_conn = s->steps = s->population = 0;
    s->drain_us = s->drain_us < 100000 ? s->drain_us : 100000;
}

static void draw_tls(struct scenario *s, struct rng *r)
{
    if (s->listen || !one_in(r, 10))
        return;
    draw_tls_version(s, r);
    s->tls_tickets = between(r, 0, 3);
    draw_tls_faults(s, r);
    s->wrong_id_permille = 0; /* the ledger does not see what waits in records */
    if (s->sndbuf_bytes > 0)  /* a smaller one looks like a lack of memory in the handshake */
        s->sndbuf_bytes += 4000;
    while (s->queries_per_conn > 0 && s->rate_qps * s->duration_us > 100 * 1000000ull)
        s->rate_qps /= 2;
}

/* Connections are opened by the queries. */
static void draw_on_demand(struct scenario *s, struct rng *r)
{
    const uint64_t most_queries = s->tls > 0 ? 200 : 1000; /* handshakes take real time */

    if (s->listen || s->closed_loop || s->population > 0 || s->steps > 0 || !one_in(r, 4))
        return;
    s->on_demand = 1;
    s->idle_close_us = one_in(r, 5) ? 0 : of_any_size(r, 1, 100000);
    s->queries_per_conn = s->reconnect = s->prove = s->connect_arrival = 0;
    while (s->rate_qps * s->duration_us > most_queries * 1000000)
        s->rate_qps /= 2;
    if (s->protocol != 0 || one_in(r, 2))
        return;
    s->keepalive = 1;
    s->keepalive_permille = between(r, 1, 1000);
    s->keepalive_most = one_in(r, 3) ? 0 : between(r, 1, 10);
    draw_between(r, 3, &s->keepalive_bad_permille, 1, 300);
    s->duration_us = of_any_size(r, s->duration_us, 3000000);
    while (s->rate_qps * s->duration_us > most_queries * 1000000)
        s->rate_qps /= 2;
    s->rate_qps = s->rate_qps > 0 ? s->rate_qps : 1;
}

static void draw_classes(struct scenario *s, struct rng *r)
{
    if (!one_in(r, 4))
        return;
    s->classes = between(r, 1, 5);
    s->plain_classes = s->tls > 0 && one_in(r, 2);
    s->class_dice = s->seed % 4 != 0 ? s->seed : 0; /* not from r: seeds keep their meaning */
}

static void draw_udp(struct scenario *s, struct rng *r)
{
    if (s->listen || s->tls > 0 || s->on_demand || !one_in(r, 6))
        return;
    s->udp = 1;
    s->protocol = s->proxy = s->connect_arrival = s->conn_per_query = 0;
    s->prove = !one_in(r, 4);
}

/* Nothing else goes wrong. */
static void calm(struct scenario *s)
{
    s->lost_permille = s->late_permille = s->deaf_permille = s->wrong_id_permille = 0;
    s->malformed_permille = s->fin_permille = s->reset_permille = s->syn_lost_permille = 0;
    s->refused_permille = s->accept_queue = s->stall_us = s->stall_every_us = s->most_served = 0;
    s->damaged_permille = s->handshake_permille = s->close_on_timeout = 0;
    s->start_permille = s->socket_permille = s->bind_permille = s->connect_permille = 0;
    s->send_permille = s->receive_permille = s->short_permille = s->again_permille = 0;
    s->watch_permille = s->malloc_ppm = s->fd_limit = s->memory_grant = s->planned_ports = 0;
    s->preempt_permille = s->population = s->steps = s->stop_us = 0;
    s->timeout_us = s->connect_timeout_us = 3000000;
}

/* The server restarts, and its clients come back. */
static void draw_restarts(struct scenario *s, struct rng *r)
{
    if (!one_in(r, 6))
        return;
    s->restart_every_us = of_any_size(r, s->tls > 0 ? 100000 : 1000, 3000000);
    s->restart_how = between(r, 0, PEER_RESTART_N_HOWS - 1);
    draw_size(r, 2, &s->down_us, 1, 500000);
    s->backoff_us = of_any_size(r, s->tls > 0 ? 10000 : 100, 100000);
    if (s->tls > 0 && s->connections > 20) /* handshakes take real time */
        s->connections = 20;
    s->reconnect |= !s->on_demand && !one_in(r, 4);
    if (one_in(r, 2))
        calm(s);
    if (!s->closed_loop) {
        s->duration_us = between(r, s->duration_us, 3000000);
        s->pace = CLIENT_PACE_SLEEP; /* to spin for so long takes real time */
    }
    while (s->rate_qps > 1 && s->rate_qps * s->duration_us > (s->tls > 0 ? 200 : 1000) * 1000000ull)
        s->rate_qps /= 2;
}

/* Long answers, most of them over UDP; their bytes take real time. */
static void draw_sizes(struct scenario *s, struct rng *r)
{
    if (s->protocol != 0 || s->listen || !one_in(r, s->udp ? 3 : 30))
        return;
    draw_between(r, 2, &s->edns_bytes, 512, 65535);
    s->answer_bytes = one_in(r, 2) ? between(r, 13, 65535) : of_any_size(r, 13, 65535);
    while (s->rate_qps > 1 && s->rate_qps * s->duration_us / 1000000 * s->answer_bytes > 4000000)
        s->rate_qps /= 2;
}

struct scenario drive_random(uint64_t seed)
{
    struct scenario s = scenario_simplest(seed);
    struct rng r;

    rng_seed(&r, seed, 0);
    draw_load(&s, &r);
    draw_connections(&s, &r);
    draw_network(&s, &r);
    if (!one_in(&r, 4)) {
        draw_peer(&s, &r);
        draw_answers(&s, &r);
    }
    draw_faults(&s, &r);
    draw_host(&s, &r);
    draw_listening(&s, &r);
    s.own_tables = one_in(&r, 4);
    draw_size(&r, 12, &s.gate_us, 1, 3000000);
    draw_tls(&s, &r);
    draw_on_demand(&s, &r);
    draw_classes(&s, &r);
    draw_udp(&s, &r);
    draw_restarts(&s, &r);
    draw_sizes(&s, &r);
    return s;
}
