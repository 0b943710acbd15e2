/* SPDX-License-Identifier: MIT
 * random: a random scenario for tcpserver. */
#include "draw.h"
#include "drive.h"
#include "server_laws.h"

static void draw_server(struct scenario *s, struct rng *r)
{
    draw_between(r, 2, &s->workers, 2, 4);
    s->protocol = one_in(r, 3);
    if (one_in(r, 4)) {
        s->push_per_s = of_any_size(r, 1, 5000);
        s->push_bytes = one_in(r, 4) ? of_any_size(r, 64, 65536) : between(r, 64, 300);
        s->push_random = between(r, 0, 1);
    } else {
        draw_size(r, 3, &s->idle_timeout_us, 20000, 3000000);
    }
    draw_size(r, 4, &s->max_connections, 1, s->connections);
    draw_size(r, 4, &s->max_per_source, 1, 10);
    draw_size(r, 2, &s->backlog, 1, 100);
    s->own_tables = one_in(r, 3);
    draw_between(r, 3, &s->fd_limit, server_own_fds(s), server_own_fds(s) + s->connections);
    if (s->own_tables)
        draw_between(r, 2, &s->spare_workers, 1, 3);
    draw_size(r, 5, &s->closings, 1, 5);
    draw_size(r, 5, &s->pauses, 1, 5);
    draw_between(r, 12, &s->memory_grant, 1, s->connections);
}

static void draw_headers(struct scenario *s, struct rng *r)
{
    if (!one_in(r, 3))
        return;
    s->proxy = between(r, 1, 3);
    s->header_timeout_us = of_any_size(r, 20000, 3000000);
    draw_between(r, 3, &s->local_permille, 1, 1000);
    draw_size(r, 3, &s->wrong_header_permille, 1, 1000);
    draw_size(r, 3, &s->cut_header_permille, 1, 1000);
}

static void draw_clients(struct scenario *s, struct rng *r)
{
    s->duration_us = of_any_size(r, 1000, 2000000);
    s->sources = of_any_size(r, 1, 20);
    s->burst = of_any_size(r, 1, s->connections);
    s->message_bytes = of_any_size(r, 1, one_in(r, 8) ? 400000 : 5000);
    s->chunk_bytes = of_any_size(r, 1, 65536);
    while (s->message_bytes / s->chunk_bytes > 500)
        s->message_bytes /= 2;
    draw_size(r, 2, &s->gap_us, 1, 20000);
    s->window_bytes = of_any_size(r, 1, 200000);
    while (s->message_bytes / s->window_bytes > 500)
        s->message_bytes /= 2;
    draw_size(r, 3, &s->unread_permille, 1, 1000);
    if (one_in(r, 3)) {
        s->slow_permille = of_any_size(r, 1, 1000);
        s->slow_us = of_any_size(r, 1, 50000);
    }
    draw_between(r, 2, &s->half_close_permille, 1, 1000);
    draw_between(r, 2, &s->stay_permille, 1, 1000);
    draw_size(r, 3, &s->abort_permille, 1, 1000);
    draw_size(r, 3, &s->vanish_permille, 1, 1000);
}

static void draw_network(struct scenario *s, struct rng *r)
{
    draw_latency(s, r);
    if (!one_in(r, 4)) {
        s->sndbuf_bytes = of_any_size(r, 1, 100000);
        while (s->message_bytes / s->sndbuf_bytes > 2000)
            s->sndbuf_bytes *= 2;
        if (s->push_per_s > 0 && s->sndbuf_bytes < s->push_bytes / 100)
            s->sndbuf_bytes = s->push_bytes / 100;
    }
    draw_lost_syns(s, r);
}

/* Half of all scenarios have none. */
static void draw_faults(struct scenario *s, struct rng *r)
{
    if (one_in(r, 2))
        return;
    draw_between(r, 20, &s->start_permille, 1, 300);
    draw_between(r, 3, &s->accept_permille, 1, 500);
    draw_between(r, 4, &s->open_permille, 1, 1000);
    draw_io_faults(s, r);
    draw_between(r, 6, &s->watch_permille, 1, 300);
    draw_size(r, 6, &s->malloc_ppm, 10, 100000);
}

static void draw_host(struct scenario *s, struct rng *r)
{
    s->call_ns = of_any_size(r, 50, 5000);
    if (one_in(r, 60)) { /* workers that never sleep: as few calls as possible */
        s->pace = 3;
        s->call_ns = 50000;
    }
    draw_size(r, 2, &s->wakeup_us, 1, 3000);
    draw_scheduling(s, r);
}

static void draw_tls(struct scenario *s, struct rng *r)
{
    if (s->push_per_s > 0 || !one_in(r, 8))
        return;
    draw_tls_version(s, r);
    while (s->connections > 60)
        s->connections /= 2;
    draw_tls_faults(s, r);
}

/* A message takes a few calls for each piece that the socket accepts: limits the number to what the
 * host has time for. */
static void limit_pushes(struct scenario *s)
{
    while (s->push_per_s * scenario_push_pieces(s) * s->call_ns > 500000000)
        s->push_per_s /= 2;
}

static void draw_halts(struct scenario *s, struct rng *r)
{
    if (!one_in(r, 4))
        return;
    s->halt_permille = between(r, 1, 100);
    s->halt_us = of_any_size(r, 1000, 100000);
}

struct scenario drive_random(uint64_t seed)
{
    struct scenario s = scenario_simplest(seed);
    struct rng r;

    rng_seed(&r, seed, 7);
    s.connections = of_any_size(&r, 1, 200);
    draw_server(&s, &r);
    draw_headers(&s, &r);
    draw_clients(&s, &r);
    draw_network(&s, &r);
    draw_faults(&s, &r);
    draw_host(&s, &r);
    draw_tls(&s, &r);
    limit_pushes(&s);
    draw_halts(&s, &r);
    return s;
}
