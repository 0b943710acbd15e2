/* SPDX-License-Identifier: MIT
 * crowd: see crowd.h. */
#include "crowd.h"

#include "descriptor.h"
#include "memory.h"
#include "violation.h"
#include "world.h"

#include <inttypes.h>
#include <string.h>

#define US 1000ull
#define MS 1000000ull
#define S  1000000000ull

/* What the server's socket holds for it before it reads. */
enum { RCVBUF_BYTES = 65536, MOST_TRIES = 4, MOST_FLOODS = 10, NEVER = -1 };

enum kind { TALKER, FLOOD, NEVER_READS, TRICKLE, SILENT, LEAVES };

struct client {
    uint64_t name; /* of its connection; 0: none yet */
    uint64_t sent, echoed;
    uint32_t n_left; /* messages */
    uint8_t kind, n_tries;
    bool has_ended; /* sent its FIN, or reset */
    bool reads;
};

static struct client *all;
static uint32_t n_clients;
static const int *listeners;
static uint32_t n_listeners;
static uint32_t *queues; /* n_clients for each listener: who waits there, in order */
static uint32_t *firsts;
static bool any_may_be_closed;
struct crowd_figures crowd_figures;

static uint64_t way_ns(void)
{
    return (world.scenario.latency_us + world_up_to(world.scenario.jitter_us)) * US;
}

static uint8_t byte_of(uint32_t client, uint64_t at)
{
    return world.scenario.server == 2 ? (uint8_t) "Ping"[at % 4]
                                      : (uint8_t)(at * 167 + client * 13 + (at >> 8));
}

/* --- at the door --- */

static void on_arrival(uint64_t client, uint64_t arg)
{
    const uint32_t l = (uint32_t)world_up_to(n_listeners - 1);
    struct descriptor *d = descriptor_of(listeners[l]);

    (void)arg;
    if (d == NULL)
        return;
    if (world.scenario.accept_queue > 0 && d->count >= world.scenario.accept_queue) {
        if (all[client].n_tries++ < MOST_TRIES)
            world_at(world.now_ns + S, on_arrival, client, 0);
        return;
    }
    queues[(uint64_t)l * n_clients + (firsts[l] + d->count++) % n_clients] = (uint32_t)client;
    world_trace("comes", (int64_t)client, listeners[l], 0);
    descriptor_changed(listeners[l]);
}

int64_t crowd_next(int listener_fd)
{
    struct descriptor *d = descriptor_of(listener_fd);
    uint32_t l = 0, client;

    if (d->count == 0)
        return NEVER;
    while (listeners[l] != listener_fd)
        l++;
    client = queues[(uint64_t)l * n_clients + firsts[l]];
    firsts[l] = (firsts[l] + 1) % n_clients;
    d->count--;
    return client;
}

void crowd_abort(int64_t client)
{
    all[client].has_ended = true;
}

static enum kind draw_kind(void)
{
    const struct scenario *s = &world.scenario;

    if (world_chance(s->flood_permille))
        return FLOOD;
    if (world_chance(s->never_read_permille))
        return NEVER_READS;
    if (world_chance(s->trickle_permille))
        return TRICKLE;
    if (world_chance(s->silent_permille))
        return SILENT;
    return world_chance(s->leave_permille) ? LEAVES : TALKER;
}

void crowd_begin(const int *listener_fds, uint32_t n)
{
    listeners = listener_fds;
    n_listeners = n;
    n_clients = (uint32_t)world.scenario.connections;
    all = memory_own(all, n_clients * sizeof *all);
    queues = memory_own(queues, (size_t)n * n_clients * sizeof *queues);
    firsts = memory_own(firsts, n * sizeof *firsts);
    memset(firsts, 0, n * sizeof *firsts);
    crowd_figures = (struct crowd_figures){0};
    any_may_be_closed = false;
    for (uint32_t i = 0; i < n_clients; i++) {
        const uint64_t most =
            2 * world.scenario.rate_qps * world.scenario.duration_us / 1000000 / n_clients;

        all[i] = (struct client){.kind = (uint8_t)draw_kind(), .reads = true};
        all[i].n_left = 1 + (uint32_t)world_up_to(most < 1000 ? most : 1000);
        all[i].reads = all[i].kind != NEVER_READS;
        if (all[i].kind == FLOOD || all[i].kind == NEVER_READS)
            all[i].n_left = 1 + (uint32_t)world_up_to(MOST_FLOODS);
        world_at(world.now_ns + world_up_to(world.scenario.duration_us * US), on_arrival, i, 0);
    }
}

void crowd_end_all(void)
{
    for (uint32_t i = 0; i < n_clients; i++)
        all[i].name = 0;
}

void crowd_expect_closing(void)
{
    any_may_be_closed = true;
}

/* --- what they say --- */

static uint64_t pause_ns(const struct client *c)
{
    const uint64_t mean_ns = world.scenario.duration_us * US / (c->n_left + 1);

    return c->kind == FLOOD ? world_up_to(20 * US) : world_up_to(2 * mean_ns);
}

/* Returns how many bytes its message has: as many as there is room for, perhaps 0. */
static uint32_t message_bytes(const struct client *c, const struct tcp *t)
{
    const uint32_t unread = t->tail - t->head;
    const uint32_t room = unread < RCVBUF_BYTES ? RCVBUF_BYTES - unread : 0;
    const uint64_t most = c->kind == TRICKLE ? 1
                          : c->kind == FLOOD || c->kind == NEVER_READS
                              ? RCVBUF_BYTES
                              : world.scenario.message_bytes;
    const uint32_t n = 1 + (uint32_t)world_up_to(most - 1);

    return n < room ? n : room;
}

static void say(uint32_t client, uint32_t i)
{
    static uint8_t bytes[RCVBUF_BYTES];
    struct client *c = &all[client];
    const uint32_t n = message_bytes(c, tcp_at(i));

    if (n == 0)
        return;
    for (uint32_t k = 0; k < n; k++)
        bytes[k] = byte_of(client, c->sent++);
    tcp_deliver_at(i, bytes, n, world.now_ns + way_ns());
}

static void leave(struct client *c, uint32_t i)
{
    if (c->kind == SILENT) /* it stays, and says nothing more */
        return;
    c->has_ended = true;
    if (c->kind == LEAVES || world_chance(world.scenario.reset_permille))
        tcp_reset_at(i, world.now_ns + way_ns());
    else
        tcp_finish_at(i, world.now_ns + way_ns());
}

static void on_step(uint64_t name, uint64_t client)
{
    struct client *c = &all[client];
    const struct tcp *t = tcp_named(name);

    if (t == NULL || c->name != name || t->state != TCP_ESTABLISHED)
        return;
    if (c->kind == SILENT || c->n_left-- == 0) {
        leave(c, (uint32_t)name);
        return;
    }
    say((uint32_t)client, (uint32_t)name);
    world_at(world.now_ns + pause_ns(c), on_step, name, client);
}

void crowd_on_accept(int64_t client, uint32_t i)
{
    struct client *c = &all[client];

    crowd_figures.n_accepted++;
    c->name = tcp_name(i, tcp_at(i));
    tcp_at(i)->peer.offset = (uint32_t)client;
    tcp_at(i)->active_ns = world.now_ns;
    world_at(world.now_ns + (c->kind == LEAVES ? 0 : way_ns()), on_step, c->name, (uint64_t)client);
}

/* --- what comes back --- */

static void on_connect(uint32_t i)
{
    violation("fd %d: the server connects", tcp_at(i)->fd);
}

static uint64_t on_data(uint32_t i, const uint8_t *data, size_t n_bytes)
{
    struct tcp *t = tcp_at(i);
    struct client *c = &all[t->peer.offset];
    const bool pings = world.scenario.server == 2;

    for (size_t k = 0; k < n_bytes; k++, c->echoed++) {
        const uint8_t expected =
            pings ? (uint8_t) "Pong"[c->echoed % 4] : byte_of(t->peer.offset, c->echoed);

        LAW(data[k] == expected, "fd %d: byte %" PRIu64 " that comes back is %02x, not %02x", t->fd,
            c->echoed, data[k], expected);
    }
    LAW(c->echoed <= (pings ? t->n_read / 4 * 4 : t->n_read),
        "fd %d: more comes back than was sent", t->fd);
    return world.now_ns + (c->reads ? way_ns() : 100000 * S);
}

/* libevent's timers are early by up to a tick of the coarse clock, and by as long as the turn of
 * the loop takes: it reads the clock once. */
static uint64_t early_ns(void)
{
    const struct scenario *s = &world.scenario;

    return 8 * MS + 100 * s->call_ns * s->connections +
           (s->preempt_permille > 0 ? 100 * s->wakeup_us * US : 0);
}

/* What entitles the server to close a connection that its client has not ended. */
static bool is_idle(const struct tcp *t)
{
    const uint64_t idle_ns = world.scenario.idle_us * US;

    return idle_ns > 0 && world.now_ns - t->active_ns + early_ns() >= idle_ns;
}

static void on_close(uint32_t i)
{
    const struct tcp *t = tcp_at(i);
    const struct client *c = &all[t->peer.offset];

    crowd_figures.n_closed++;
    if (t->reset_on_close) {
        crowd_figures.n_refused++;
        LAW(t->n_read == 0, "fd %d: refused after it was served", t->fd);
        return;
    }
    if (t->end_was_told && !t->had_fault && t->state == TCP_ESTABLISHED) {
        crowd_figures.n_ended++;
        LAW(c->echoed == (world.scenario.server == 2 ? t->n_read / 4 * 4 : t->n_read),
            "fd %d: closed after %" PRIu64 " of %" PRIu64 " bytes", t->fd, c->echoed, t->n_read);
        return;
    }
    LAW(t->had_fault || t->state == TCP_BROKEN || is_idle(t) || any_may_be_closed ||
            world.scenario.malloc_ppm > 0 || world.scenario.watch_permille > 0,
        "fd %d: closed without a reason", t->fd);
}

const struct tcp_end crowd_end = {
    .on_connect = on_connect, .on_data = on_data, .on_close = on_close};
