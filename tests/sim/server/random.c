/* SPDX-License-Identifier: MIT
 * random: a random scenario for tcpserver. */
#include "base/rng.h"
#include "draw.h"
#include "drive.h"

static void draw_server(struct scenario *s, struct rng *r)
{
    s->workers = one_in(r, 2) ? between(r, 2, 4) : 1;
    s->protocol = one_in(r, 3);
    if (one_in(r, 4)) {
        s->push_per_s = of_any_size(r, 1, 5000);
        s->push_bytes = one_in(r, 4) ? of_any_size(r, 64, 65536) : between(r, 64, 300);
        s->push_random = between(r, 0, 1);
    } else if (one_in(r, 3)) {
        s->idle_timeout_us = of_any_size(r, 20000, 3000000);
    }
    if (one_in(r, 4))
        s->max_connections = of_any_size(r, 1, s->connections);
    if (one_in(r, 4))
        s->max_per_source = of_any_size(r, 1, 10);
    if (one_in(r, 2))
        s->backlog = of_any_size(r, 1, 100);
    if (one_in(r, 3))
        s->own_tables = 1;
    if (one_in(r, 3))
        s->fd_limit = between(r, 12 + 4 * s->workers, 12 + 4 * s->workers + s->connections);
    if (s->own_tables && one_in(r, 2))
        s->spare_workers = between(r, 1, 3);
    if (one_in(r, 5))
        s->closings = of_any_size(r, 1, 5);
    if (one_in(r, 5))
        s->pauses = of_any_size(r, 1, 5);
    if (one_in(r, 12))
        s->memory_grant = between(r, 1, s->connections);
}

static void draw_headers(struct scenario *s, struct rng *r)
{
    if (!one_in(r, 3))
        return;
    s->proxy = between(r, 1, 3);
    s->header_timeout_us = of_any_size(r, 20000, 3000000);
    if (one_in(r, 3))
        s->local_permille = between(r, 1, 1000);
    if (one_in(r, 3))
        s->wrong_header_permille = of_any_size(r, 1, 1000);
    if (one_in(r, 3))
        s->cut_header_permille = of_any_size(r, 1, 1000);
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
    if (one_in(r, 2))
        s->gap_us = of_any_size(r, 1, 20000);
    s->window_bytes = of_any_size(r, 1, 200000);
    while (s->message_bytes / s->window_bytes > 500)
        s->message_bytes /= 2;
    if (one_in(r, 3))
        s->unread_permille = of_any_size(r, 1, 1000);
    if (one_in(r, 3)) {
        s->slow_permille = of_any_size(r, 1, 1000);
        s->slow_us = of_any_size(r, 1, 50000);
    }
    s->half_close_permille = one_in(r, 2) ? between(r, 1, 1000) : 0;
    s->stay_permille = one_in(r, 2) ? between(r, 1, 1000) : 0;
    if (one_in(r, 3))
        s->abort_permille = of_any_size(r, 1, 1000);
    if (one_in(r, 3))
        s->vanish_permille = of_any_size(r, 1, 1000);
}

static void draw_network(struct scenario *s, struct rng *r)
{
    s->latency_us = one_in(r, 5) ? 0 : of_any_size(r, 1, 5000);
    if (one_in(r, 2))
        s->jitter_us = of_any_size(r, 1, 5000);
    if (!one_in(r, 4)) {
        s->sndbuf_bytes = of_any_size(r, 1, 100000);
        while (s->message_bytes / s->sndbuf_bytes > 2000)
            s->sndbuf_bytes *= 2;
        if (s->push_per_s > 0 && s->sndbuf_bytes < s->push_bytes / 100)
            s->sndbuf_bytes = s->push_bytes / 100;
    }
    if (one_in(r, 6))
        s->syn_lost_permille = between(r, 1, 500);
}

/* Half of all scenarios have none. */
static void draw_faults(struct scenario *s, struct rng *r)
{
    if (one_in(r, 2))
        return;
    if (one_in(r, 20))
        s->start_permille = between(r, 1, 300);
    if (one_in(r, 3))
        s->accept_permille = between(r, 1, 500);
    if (one_in(r, 4))
        s->open_permille = between(r, 1, 1000);
    if (one_in(r, 4))
        s->send_permille = between(r, 1, 50);
    if (one_in(r, 4))
        s->receive_permille = between(r, 1, 50);
    if (one_in(r, 2))
        s->short_permille = between(r, 1, 500);
    if (one_in(r, 3))
        s->again_permille = between(r, 1, 300);
    if (one_in(r, 6))
        s->watch_permille = between(r, 1, 300);
    if (one_in(r, 6))
        s->malloc_ppm = of_any_size(r, 10, 100000);
}

static void draw_host(struct scenario *s, struct rng *r)
{
    s->call_ns = of_any_size(r, 50, 5000);
    if (one_in(r, 60)) { /* workers that never sleep: as few calls as possible */
        s->pace = 3;
        s->call_ns = 50000;
    }
    if (one_in(r, 2))
        s->wakeup_us = of_any_size(r, 1, 3000);
    if (one_in(r, 4))
        s->preempt_permille = between(r, 1, 100);
    s->shuffle = between(r, 0, 1);
}

static void draw_tls(struct scenario *s, struct rng *r)
{
    if (s->push_per_s > 0 || !one_in(r, 8))
        return;
    s->tls = one_in(r, 3) ? 2 : 1;
    s->tls_resume = between(r, 0, 1);
    while (s->connections > 60)
        s->connections /= 2;
    if (one_in(r, 3))
        s->handshake_permille = of_any_size(r, 1, 700);
    if (one_in(r, 6))
        s->damaged_permille = of_any_size(r, 1, 100);
    if (one_in(r, 4))
        s->key_update_permille = of_any_size(r, 1, 500);
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
    return s;
}
