/* SPDX-License-Identifier: MIT
 * peer_handshake: see peer_handshake.h. */
#include "peer_handshake.h"

#include "peer_tls.h"
#include "tcp.h"
#include "world.h"

enum fault {
    NONE,
    SILENT,
    RESET,
    FIN,
    CUT, /* in the middle of a step */
    GARBAGE,
    ALERT,
    TRICKLE, /* slower than any timeout */
    N_FAULTS
};

enum { MOST_GARBAGE_BYTES = 200, PIECES = 6 };

void peer_handshake_begin(uint32_t i, bool is_server)
{
    struct tcp_peer *p = &tcp_at(i)->peer;

    peer_tls_open(i, is_server);
    if (!world_chance(world.scenario.handshake_permille))
        return;
    p->fault = (uint8_t)(1 + world_up_to(N_FAULTS - 2));
    p->n_before = (uint8_t)world_up_to(1);
}

static void send_garbage(uint32_t i, uint64_t at_ns)
{
    uint8_t out[MOST_GARBAGE_BYTES];
    const size_t n = 1 + (size_t)world_up_to(sizeof out - 1);

    for (size_t k = 0; k < n; k++)
        out[k] = (uint8_t)world_up_to(255);
    tcp_deliver_at(i, out, n, at_ns);
}

static void send_alert(uint32_t i, uint64_t at_ns)
{
    static const uint8_t handshake_failure[] = {21, 3, 3, 0, 2, 2, 40};

    tcp_deliver_at(i, handshake_failure, sizeof handshake_failure, at_ns);
}

static void trickle(uint32_t i, const uint8_t *out, size_t n_bytes, uint64_t at_ns)
{
    const uint64_t gap_ns = world.scenario.connect_timeout_us * 750;

    for (int k = 0; k < PIECES && n_bytes > 1; k++) {
        tcp_deliver_at(i, out++, 1, at_ns);
        n_bytes--;
        at_ns += gap_ns;
    }
    if (n_bytes > 0)
        tcp_deliver_at(i, out, n_bytes, at_ns);
}

/* What happens instead of this step. */
static void misbehave(uint32_t i, const uint8_t *out, size_t n_bytes, uint64_t at_ns)
{
    struct tcp_peer *p = &tcp_at(i)->peer;
    const enum fault fault = (enum fault)p->fault;

    p->fault = fault == TRICKLE ? NONE : SILENT;
    p->is_deaf |= fault != TRICKLE;
    p->is_hostile |= fault == GARBAGE || fault == ALERT;
    if (fault == TRICKLE)
        trickle(i, out, n_bytes, at_ns);
    if (fault == GARBAGE)
        send_garbage(i, at_ns);
    if (fault == ALERT)
        send_alert(i, at_ns);
    if (fault == CUT && n_bytes > 1)
        tcp_deliver_at(i, out, 1 + (size_t)world_up_to(n_bytes - 2), at_ns);
    if (fault == FIN || (fault == CUT && world_chance(500)))
        tcp_finish_at(i, at_ns);
    else if (fault == RESET || fault == CUT)
        tcp_reset_at(i, at_ns);
}

size_t peer_handshake_take(uint32_t i, const uint8_t *data, size_t n_bytes, uint64_t at_ns,
                           const uint8_t **plain)
{
    struct tcp_peer *p = &tcp_at(i)->peer;
    const uint8_t *out;
    size_t n_plain, n_out;

    if (p->tls == NULL)
        return 0;
    n_plain = peer_tls_take(i, data, n_bytes, plain);
    n_out = peer_tls_seal(i, NULL, 0, &out);
    if (n_out == 0 || p->is_gone)
        return n_plain;
    if (p->fault != NONE && p->n_before == 0) {
        misbehave(i, out, n_out, at_ns);
    } else {
        if (p->n_before > 0)
            p->n_before--;
        tcp_deliver_at(i, out, n_out, at_ns);
    }
    return n_plain;
}

bool peer_handshake_is_over(uint32_t i)
{
    const struct tcp_peer *p = &tcp_at(i)->peer;

    return p->tls != NULL && !p->is_deaf && peer_tls_is_established(i);
}
