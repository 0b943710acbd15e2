/* SPDX-License-Identifier: MIT
 * peer: see peer.h. */
#include "peer.h"

#include "classes.h"
#include "ledger.h"
#include "peer_answer.h"
#include "peer_handshake.h"
#include "peer_header.h"
#include "peer_push.h"
#include "peer_query.h"
#include "peer_restart.h"
#include "peer_tls.h"
#include "tcp.h"
#include "world.h"

#include <errno.h>
#include <string.h>

#define MS 1000000ull

enum { PIECES = 4 };

static uint64_t busy_until_ns;  /* the server */
static uint64_t n_served;       /* connections accepted and not yet closed */
static uint64_t queue_until_ns; /* the end of the stall in which ... */
static uint64_t n_queued;       /* ... this many wait to be accepted */
static uint64_t n_accepted;     /* ever; includes those that wait forever to be accepted */
static uint64_t n_restarts;
struct peer_figures peer_figures;

static void end_by_restart(uint32_t i);
static void forget(void);

void peer_begin(void)
{
    busy_until_ns = n_served = queue_until_ns = n_queued = n_accepted = n_restarts = 0;
    peer_figures = (struct peer_figures){0};
    peer_tls_begin();
    peer_restart_begin(end_by_restart, forget);
}

/* --- time --- */

static uint64_t way_ns(void)
{
    return (world.scenario.latency_us + world_up_to(world.scenario.jitter_us)) * 1000;
}

/* When a server that stalls now and then goes on. */
static uint64_t awake_ns(uint64_t at_ns)
{
    const uint64_t every_ns = world.scenario.stall_every_us * 1000;
    const uint64_t stall_ns = world.scenario.stall_us * 1000;

    if (stall_ns == 0 || every_ns <= stall_ns)
        return at_ns;
    return at_ns % every_ns < stall_ns ? at_ns - at_ns % every_ns + stall_ns : at_ns;
}

/* Data that arrive within one coalescing interval arrive at its end. */
static uint64_t arrival_ns(uint64_t at_ns)
{
    const uint64_t step_ns = world.scenario.coalesce_us * 1000;

    return step_ns > 0 ? (at_ns / step_ns + 1) * step_ns : at_ns;
}

static uint64_t service_ns(void)
{
    const uint64_t ns = world.scenario.service_us * 1000;

    return world.scenario.service_random ? (uint64_t)(rng_exponential(&world.dice) * (double)ns)
                                         : ns;
}

/* --- connecting --- */

/* A SYN that found no room, or was lost, is sent again after 1, 3, 7, ... s (tcp(7)). */
static uint64_t again_ns(unsigned n_lost)
{
    return ((1ull << n_lost) - 1) * 1000 * MS;
}

static bool has_room(uint64_t at_ns)
{
    const uint64_t until_ns = awake_ns(at_ns);

    if (world.scenario.accept_queue == 0 || until_ns == at_ns)
        return true;
    if (until_ns != queue_until_ns) {
        queue_until_ns = until_ns;
        n_queued = 0;
    }
    return n_queued++ < world.scenario.accept_queue;
}

/* Whether a server with a limit has room for one more connection, if only in its queue. */
static bool will_accept(void)
{
    const uint64_t most = world.scenario.most_accepted;

    return most == 0 || n_accepted < most + world.scenario.accept_queue;
}

static void accept_one(struct tcp *t, uint32_t i, uint64_t at_ns)
{
    const uint64_t most = world.scenario.most_served;

    t->peer.accepted_ns = awake_ns(at_ns);
    t->peer.is_deaf = world_chance(world.scenario.deaf_permille);
    if (world.scenario.most_accepted > 0 && n_accepted++ >= world.scenario.most_accepted)
        t->peer.is_deaf = true;
    if (most > 0 && n_served >= most) {
        t->peer.is_gone = true;
        peer_figures.n_resets++;
        tcp_reset_at(i, t->peer.accepted_ns + way_ns());
    } else {
        t->peer.is_served = true;
        n_served++;
        if (world.scenario.listen)
            peer_push_on_accept(i, t->peer.accepted_ns);
        if (t->is_secure)
            peer_handshake_begin(i, true);
    }
}

static void on_connect(uint32_t i)
{
    static const int refusals[] = {ECONNREFUSED, ECONNREFUSED, EHOSTUNREACH, ENETUNREACH};
    struct tcp *t = tcp_at(i);
    unsigned n_lost = 0;
    uint64_t at_ns = world.now_ns + way_ns();

    if (t->is_datagram) { /* a connection of this host only */
        t->peer.is_deaf = world_chance(world.scenario.deaf_permille);
        tcp_establish_at(i, world.now_ns);
        return;
    }
    while (n_lost < 6 && (world_chance(world.scenario.syn_lost_permille) || !has_room(at_ns) ||
                          peer_restart_is_silent(at_ns)))
        at_ns = world.now_ns + again_ns(++n_lost) + way_ns();
    t->retransmits =
        (uint8_t)n_lost; /* also those of later connections, because nothing checks earlier */
    if (n_lost == 6 || !will_accept())
        return;
    if (peer_restart_refuses(at_ns)) {
        tcp_refuse_at(i, at_ns + way_ns(), ECONNREFUSED);
        return;
    }
    if (world_chance(world.scenario.refused_permille)) {
        const int error = refusals[world_up_to(3)]; /* drawn first with every compiler */

        tcp_refuse_at(i, at_ns + way_ns(), error);
        return;
    }
    accept_one(t, i, at_ns);
    tcp_establish_at(i, at_ns + way_ns());
}

static void leave(struct tcp *t)
{
    if (t->peer.is_served)
        n_served--;
    t->peer.is_served = false;
    t->peer.is_gone = true;
}

static void on_close(uint32_t i)
{
    peer_header_on_close(i);
    leave(tcp_at(i));
    peer_tls_close(i);
}

/* --- answering --- */

/* Sends it in pieces, one after the other. */
static void send_split(uint32_t i, const uint8_t *data, size_t n_bytes, uint64_t at_ns)
{
    for (int k = 0; k < PIECES && n_bytes > 1; k++) {
        const size_t n = 1 + (size_t)world_up_to(n_bytes < 8 ? n_bytes - 2 : 7);

        tcp_deliver_at(i, data, n, arrival_ns(at_ns));
        data += n;
        n_bytes -= n;
        at_ns += world_up_to(world.scenario.latency_us * 1000);
    }
    tcp_deliver_at(i, data, n_bytes, arrival_ns(at_ns));
}

static void send_answer(uint32_t i, uint16_t id, bool is_malformed)
{
    static uint8_t out[QUERY_MAX_BYTES + 2];
    size_t n = peer_answer_encode(tcp_at(i), out, id, is_malformed);
    const uint64_t at_ns = world.now_ns + way_ns();
    const uint8_t *data = out;

    peer_figures.n_answers++;
    if (tcp_at(i)->is_secure)
        n = peer_tls_seal(i, out, n, &data);
    if (!tcp_at(i)->is_datagram && world_chance(world.scenario.split_permille))
        send_split(i, data, n, at_ns);
    else
        tcp_deliver_at(i, data, n, arrival_ns(at_ns));
}

/* With TLS, some send close_notify; some send only that. */
static void finish(uint32_t i)
{
    const uint64_t at_ns = world.now_ns + way_ns();
    const uint64_t how = tcp_at(i)->is_secure && peer_handshake_is_over(i) ? world_up_to(2) : 0;
    const uint8_t *out;
    size_t n;

    if (how > 0 && (n = peer_tls_seal_end(i, &out)) > 0)
        tcp_deliver_at(i, out, n, at_ns);
    if (how < 2)
        tcp_finish_at(i, at_ns);
}

static void end(struct tcp *t, uint32_t i)
{
    if (!t->is_datagram && world_chance(world.scenario.fin_permille)) {
        leave(t);
        peer_figures.n_fins++;
        finish(i);
    } else if (world_chance(world.scenario.reset_permille)) {
        leave(t);
        peer_figures.n_resets++;
        tcp_reset_at(i, world.now_ns + way_ns());
    }
}

/* --- restarting --- */

static void end_by_restart(uint32_t i)
{
    const uint64_t accepted_ns = tcp_at(i)->peer.accepted_ns;
    const uint64_t at_ns = world.now_ns > accepted_ns ? world.now_ns : accepted_ns;

    leave(tcp_at(i));
    if (world.scenario.restart_how == PEER_RESTART_RESET)
        tcp_reset_at(i, at_ns + way_ns());
    else if (world.scenario.restart_how == PEER_RESTART_FIN)
        finish(i);
}

/* The queries that it has not answered. */
static void forget(void)
{
    busy_until_ns = 0;
    n_restarts++;
}

/* --- serving --- */

/* The query has been served. which: its id, and the number of restarts before it arrived. */
static void on_served(uint64_t name, uint64_t which)
{
    const uint32_t i = (uint32_t)name;
    struct tcp *t = tcp_named(name);
    uint16_t answered = (uint16_t)which;

    if (t == NULL || t->peer.is_gone || which >> 16 != n_restarts)
        return;
    if (world_chance(world.scenario.wrong_id_permille)) {
        peer_figures.n_wrong++;
        answered = (uint16_t)(answered + 1 + world_up_to(3) * 20000);
    }
    send_answer(i, answered, world_chance(world.scenario.malformed_permille));
    if (world_chance(world.scenario.duplicate_permille)) {
        peer_figures.n_duplicate++;
        send_answer(i, answered, false);
    }
    end(tcp_at(i), i);
}

static void serve(const struct tcp *t, uint32_t i, uint16_t id, uint64_t at_ns)
{
    const uint64_t start_ns = at_ns > busy_until_ns ? at_ns : busy_until_ns;
    uint64_t answer_ns;

    peer_figures.n_queries++;
    if (t->is_datagram && peer_restart_refuses(at_ns))
        tcp_refuse_at(i, at_ns + way_ns(), ECONNREFUSED);
    if (t->peer.is_deaf || t->peer.is_gone || peer_restart_is_down(at_ns))
        return;
    busy_until_ns = awake_ns(start_ns) + service_ns();
    answer_ns = awake_ns(busy_until_ns);
    if (world_chance(world.scenario.lost_permille)) {
        peer_figures.n_lost++;
        return;
    }
    if (world_chance(world.scenario.late_permille)) {
        peer_figures.n_late++;
        answer_ns += world.scenario.late_us * 1000;
    }
    world_at(answer_ns, on_served, tcp_name(i, t), n_restarts << 16 | id);
}

/* --- reading --- */

static uint64_t on_data(uint32_t i, const uint8_t *data, size_t n_bytes)
{
    struct tcp *t = tcp_at(i);
    const struct query *query = classes_query(t);
    uint64_t at_ns = world.now_ns + way_ns(), read_ns;

    if (at_ns < t->last_arrival_ns)
        at_ns = t->last_arrival_ns;
    t->last_arrival_ns = at_ns;
    if (t->peer.is_gone && t->state == TCP_ESTABLISHED) /* nobody there any more */
        tcp_reset_at(i, peer_restart_up_ns(at_ns) + way_ns());
    n_bytes = peer_header_take(i, &data, n_bytes);
    if (world.scenario.listen && n_bytes > 0)
        return peer_push_on_data(i);
    read_ns = awake_ns(at_ns > t->peer.accepted_ns ? at_ns : t->peer.accepted_ns);
    if (t->is_secure && n_bytes > 0)
        n_bytes = peer_handshake_take(i, data, n_bytes, read_ns + way_ns(), &data);
    for (size_t k = 0; k < n_bytes;) {
        bool is_whole;
        uint16_t id;

        k += peer_query_take(t, query, data + k, n_bytes - k, &is_whole, &id);
        if (!is_whole)
            continue;
        ledger_on_wire(i, id);
        serve(t, i, id, read_ns);
    }
    if (t->peer.is_deaf && world.scenario.sndbuf_bytes > 0 && !t->is_datagram)
        read_ns = world.now_ns + 1000 * 1000 * MS; /* it does not read, either */
    return read_ns;
}

const struct tcp_end peer_end = {.on_connect = on_connect,
                                 .on_data = on_data,
                                 .on_close = on_close,
                                 .on_shutdown = peer_push_on_shutdown};
