/* SPDX-License-Identifier: MIT
 * peer_restart: see peer_restart.h. */
#include "peer_restart.h"

#include "tcp.h"
#include "world.h"

#define US 1000ull

static void (*end_one)(uint32_t i);
static void (*end_all)(void);

static uint64_t every_ns(void)
{
    return world.scenario.restart_every_us * US;
}

/* How long it runs between two restarts. */
static uint64_t down_ns(void)
{
    const uint64_t ns = world.scenario.down_us * US;

    return ns < every_ns() ? ns : every_ns() / 2;
}

bool peer_restart_is_down(uint64_t at_ns)
{
    return every_ns() > 0 && at_ns >= every_ns() && at_ns % every_ns() < down_ns();
}

/* Connections that it accepts only after it has started again are not affected. */
static void on_end(uint64_t object, uint64_t arg)
{
    const uint64_t up_ns = world.now_ns + down_ns();

    (void)object, (void)arg;
    world_trace("restart", 0, 0, 0);
    for (uint32_t i = 0; i < tcp_n_places(); i++) {
        const struct tcp *t = tcp_at(i);

        if (t->state != TCP_FREE && t->peer.is_served && t->peer.accepted_ns < up_ns)
            end_one(i);
    }
    end_all();
    world_at(world.now_ns + every_ns(), on_end, 0, 0);
}

void peer_restart_begin(void (*end)(uint32_t i), void (*ended)(void))
{
    end_one = end;
    end_all = ended;
    if (every_ns() > 0)
        world_at((world.now_ns / every_ns() + 1) * every_ns(), on_end, 0, 0);
}

bool peer_restart_is_silent(uint64_t at_ns)
{
    return peer_restart_is_down(at_ns) && world.scenario.restart_how == PEER_RESTART_SILENT;
}

bool peer_restart_refuses(uint64_t at_ns)
{
    return peer_restart_is_down(at_ns) && !peer_restart_is_silent(at_ns);
}

uint64_t peer_restart_up_ns(uint64_t at_ns)
{
    return peer_restart_is_silent(at_ns) ? at_ns - at_ns % every_ns() + down_ns() : at_ns;
}

uint64_t peer_restart_last_ns(uint64_t before_ns)
{
    const uint64_t at_ns = every_ns() > 0 ? before_ns - before_ns % every_ns() : 0;

    return at_ns > 0 ? at_ns + down_ns() : 0;
}
