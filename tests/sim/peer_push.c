/* SPDX-License-Identifier: MIT
 * peer_push: see peer_push.h.  It uses one field of tcp_peer, offset: the next sequence number. */
#include "peer_push.h"

#include "base/clock.h"
#include "ledger_push.h"
#include "protocol/push_message.h"
#include "tcp.h"
#include "world.h"

#include <stdbool.h>

#define US 1000ull
#define S  1000000000ull

static struct push_pattern pattern;
static uint64_t clock_id;

void peer_push_begin(void)
{
    if (clock_id != 0)
        return;
    push_pattern_fill(&pattern);
    clock_id = clock_identity();
}

static uint64_t way_ns(void)
{
    return (world.scenario.latency_us + world_up_to(world.scenario.jitter_us)) * US;
}

static uint32_t draw_bytes(void)
{
    return PUSH_MIN_BYTES + (uint32_t)world_up_to(world.scenario.pushed_bytes - PUSH_MIN_BYTES);
}

/* Uses up the number of message m; cut: only its first bytes are sent. */
static void send(uint32_t i, struct ledger_message *m, bool is_cut)
{
    static uint8_t out[PUSH_MAX_BYTES];
    const struct push_message message = {
        .n_bytes = m->n_bytes,
        .sequence = m->sequence,
        .intended_ns = m->intended_ns,
        .sent_ns = m->sent_ns,
        .realtime_offset_ns = WORLD_EPOCH_NS,
        .clock_id = clock_id,
    };

    push_encode(&message, &pattern, out);
    if (m->is_malformed)
        out[4 + world_up_to(43)] ^= 0xff;
    if (m->is_damaged)
        out[PUSH_HEADER_BYTES + world_up_to(m->n_bytes - PUSH_HEADER_BYTES - 1)] ^= 0x10;
    ledger_push_sent(i, m);
    tcp_deliver_at(i, out, is_cut ? 1 + (size_t)world_up_to(m->n_bytes - 2) : m->n_bytes,
                   world.now_ns + way_ns());
}

static void on_greet(uint64_t name, uint64_t arg)
{
    const struct tcp *t = tcp_named(name);
    struct ledger_message m = {
        .intended_ns = world.now_ns, .sent_ns = world.now_ns, .n_bytes = PUSH_MIN_BYTES};

    (void)arg;
    if (t != NULL && !t->peer.is_gone && !t->peer.is_deaf)
        send((uint32_t)name, &m, false);
}

void peer_push_on_accept(uint32_t i, uint64_t accepted_ns)
{
    tcp_at(i)->peer.offset = 1;
    world_at(accepted_ns, on_greet, tcp_name(i, tcp_at(i)), 0);
}

/* After a message: continues, or stops. */
static bool ends(struct tcp *t, uint32_t i)
{
    if (world_chance(world.scenario.reset_permille))
        tcp_reset_at(i, world.now_ns + way_ns());
    else if (world_chance(world.scenario.fin_permille))
        tcp_finish_at(i, world.now_ns + way_ns());
    else
        return false;
    t->peer.is_gone = true;
    return true;
}

static void push(struct tcp *t, uint32_t i)
{
    const uint64_t late_ns =
        world_chance(world.scenario.late_permille) ? world_up_to(world.scenario.late_us * US) : 0;
    struct ledger_message m = {
        .intended_ns = world.now_ns - late_ns, .sent_ns = world.now_ns, .n_bytes = draw_bytes()};

    if (world_chance(world.scenario.lost_permille))
        t->peer.offset++;
    m.sequence = t->peer.offset++;
    m.is_malformed = world_chance(world.scenario.malformed_permille);
    m.is_damaged = !m.is_malformed && world_chance(world.scenario.wrong_id_permille);
    if (world_chance(world.scenario.fin_permille)) {
        send(i, &m, true);
        t->peer.is_gone = true;
        tcp_finish_at(i, world.now_ns + way_ns());
        return;
    }
    send(i, &m, false);
    if (world_chance(world.scenario.duplicate_permille))
        send(i, &m, false);
}

static void on_push(uint64_t name, uint64_t arg)
{
    const uint32_t i = (uint32_t)name;
    struct tcp *t = tcp_named(name);
    const uint64_t gap_ns = world.scenario.connections * S / world.scenario.rate_qps;

    (void)arg;
    if (t == NULL || t->state != TCP_ESTABLISHED || t->peer.is_gone)
        return;
    push(t, i);
    if (!t->peer.is_gone && !ends(t, i))
        world_at(world.now_ns + (uint64_t)(rng_exponential(&world.dice) * (double)gap_ns), on_push,
                 name, 0);
}

uint64_t peer_push_on_data(uint32_t i)
{
    const struct tcp *t = tcp_at(i);
    const uint64_t at_ns = world.now_ns + way_ns();

    if (!t->peer.is_deaf)
        world_at(at_ns, on_push, tcp_name(i, t), 0);
    return at_ns;
}

void peer_push_on_shutdown(uint32_t i)
{
    struct tcp *t = tcp_at(i);

    if (t->state != TCP_ESTABLISHED || t->peer.is_gone || t->peer.is_deaf)
        return;
    t->peer.is_gone = true;
    tcp_finish_at(i, world.now_ns + 2 * way_ns());
}
