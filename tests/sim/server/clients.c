/* SPDX-License-Identifier: MIT
 * clients: see clients.h. */
#include "clients.h"

#include "answers.h"
#include "client.h"
#include "descriptor.h"
#include "headers.h"
#include "memory.h"
#include "peer_handshake.h"
#include "peer_tls.h"
#include "progress.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <errno.h>
#include <string.h>

#define US 1000ull
#define MS 1000000ull

enum { MOST_TRIES = 4, FIRST_PORT = 1024, CHUNK_BYTES = 65536 };

struct clients clients;
struct clients_figures clients_figures;
static const int *listener_fds;
static uint32_t n_listeners, room;
static uint64_t calm_ns;

/* --- sending --- */

/* With TLS, some send close_notify; some send only that. */
static void finish(struct client *c, uint32_t i)
{
    const uint64_t at_ns = world.now_ns + client_way_ns();
    const uint64_t how = clients_use_tls() ? world_up_to(2) : 0;
    const uint8_t *out;
    size_t n;

    if (c->has_finished)
        return;
    c->has_finished = true;
    if (how > 0 && (n = peer_tls_seal_end(i, &out)) > 0)
        tcp_deliver_at(i, out, n, at_ns);
    if (how < 2)
        tcp_finish_at(i, at_ns);
}

/* The last byte is on its way, or was read. */
static void end_if_done(struct client *c, uint32_t i)
{
    if (c->header_sent < c->header_bytes || c->header_is_cut || c->sent < c->to_send ||
        c->is_gone || c->has_vanished)
        return;
    if (c->half_closes ||
        (!c->stays && !clients_push() && c->received == c->to_send && c->n_read == c->expected))
        finish(c, i);
}

static void send_chunk(struct client *c, uint32_t i)
{
    static uint8_t out[CHUNK_BYTES];
    const uint8_t *data = out;
    const uint64_t id = (uint64_t)(c - clients.all), unread = c->sent - c->received;
    uint64_t n = 1 + world_up_to(world.scenario.chunk_bytes - 1);

    if (n > c->to_send - c->sent)
        n = c->to_send - c->sent;
    if (n > world.scenario.window_bytes - unread)
        n = world.scenario.window_bytes - unread;
    for (uint64_t k = 0; k < n; k++)
        out[k] = answers_byte(id, c->sent + k);
    c->sent += n;
    if (clients_use_tls())
        n = peer_tls_seal(i, out, (size_t)n, &data);
    tcp_deliver_at(i, data, (size_t)n, world.now_ns + client_way_ns());
}

/* Returns whether the handshake is over; else on_data() goes on when it is. */
static bool is_secured(uint32_t i)
{
    const uint8_t *plain;

    if (tcp_at(i)->peer.tls == NULL) {
        peer_handshake_begin(i, false);
        peer_handshake_take(i, NULL, 0, world.now_ns + client_way_ns(), &plain);
    }
    return peer_handshake_is_over(i);
}

/* In its header: the client closes, or stays silent. */
static void end_early(struct client *c, uint32_t i)
{
    switch (world_up_to(2)) {
    case 0: /* before TLS: without close_notify */
        c->has_finished = true;
        tcp_finish_at(i, world.now_ns + client_way_ns());
        break;
    case 1:
        c->is_gone = true;
        tcp_reset_at(i, world.now_ns + client_way_ns());
        break;
    default:
        c->stays = true;
    }
}

static void on_send(uint64_t name, uint64_t arg)
{
    const uint32_t i = (uint32_t)name;
    const struct tcp *t = tcp_named(name);
    struct client *c;

    (void)arg;
    if (t == NULL || t->state != TCP_ESTABLISHED)
        return;
    c = client_of(t);
    if (c->is_gone || c->has_vanished || c->has_finished)
        return;
    if (c->header_is_cut && c->header_sent == c->header_bytes) {
        end_early(c, i);
        return;
    }
    if (!headers_send(c, i)) {
        world_at(world.now_ns + world_up_to(world.scenario.gap_us * US), on_send, name, 0);
        return;
    }
    if (clients_use_tls() && !is_secured(i))
        return;
    if (c->sent < c->to_send && c->sent - c->received >= world.scenario.window_bytes) {
        c->is_blocked = true;
        return;
    }
    if (c->sent < c->to_send)
        send_chunk(c, i);
    if (c->sent < c->to_send)
        world_at(world.now_ns + world_up_to(world.scenario.gap_us * US), on_send, name, 0);
    else
        end_if_done(c, i);
}

void clients_has_read(uint32_t i)
{
    struct tcp *t = tcp_at(i);
    struct client *c = client_of(t);

    if (!c->is_blocked)
        return;
    c->is_blocked = false;
    world_at(world.now_ns + 2 * client_way_ns(), on_send, tcp_name(i, t), 0);
}

/* --- reading --- */

static void on_read(uint64_t name, uint64_t n_bytes)
{
    const struct tcp *t = tcp_named(name);

    if (t == NULL)
        return;
    client_of(t)->n_read += n_bytes;
    end_if_done(client_of(t), (uint32_t)name);
}

static uint64_t read_ns(struct client *c, uint64_t at_ns)
{
    if (c->never_reads || c->has_vanished || c->is_gone)
        return WORLD_NEVER;
    if (at_ns < c->reads_until_ns)
        at_ns = c->reads_until_ns;
    c->reads_until_ns = at_ns + world_up_to(c->slow_ns);
    return c->reads_until_ns;
}

/* Decrypts what the server has sent.  Returns whether it belongs to the handshake, which every
 * client reads. */
static bool take_sealed(uint32_t i, const uint8_t **data, size_t *n_bytes, uint64_t at_ns)
{
    const struct tcp *t = tcp_at(i);
    const bool was_over = peer_handshake_is_over(i);

    *n_bytes = peer_handshake_take(i, *data, *n_bytes, at_ns + client_way_ns(), data);
    if (!was_over && peer_handshake_is_over(i))
        world_at(at_ns, on_send, tcp_name(i, t), 0);
    return !was_over && *n_bytes == 0;
}

static uint64_t on_data(uint32_t i, const uint8_t *data, size_t n_bytes)
{
    struct tcp *t = tcp_at(i);
    struct client *c = client_of(t);
    uint64_t at_ns = world.now_ns + client_way_ns();

    LAW(c->is_served, "client %u: data before it is served", t->peer.client);
    clients_figures.bytes_sent += n_bytes;
    if (at_ns < t->last_arrival_ns)
        at_ns = t->last_arrival_ns;
    t->last_arrival_ns = at_ns;
    if (clients_use_tls() && take_sealed(i, &data, &n_bytes, at_ns))
        return at_ns;
    answers_check(c, data, n_bytes);
    if (c->is_gone)
        tcp_reset_at(i, at_ns + client_way_ns());
    at_ns = read_ns(c, at_ns);
    if (at_ns != WORLD_NEVER)
        world_at(at_ns, on_read, tcp_name(i, t), n_bytes);
    return at_ns;
}

/* --- ending --- */

static void on_abort(uint64_t name, uint64_t arg)
{
    const struct tcp *t = tcp_named(name);

    (void)arg;
    if (t == NULL || client_of(t)->is_gone || client_of(t)->has_vanished)
        return;
    client_of(t)->is_gone = true;
    tcp_reset_at((uint32_t)name, world.now_ns + client_way_ns());
}

/* TCP gives up some of them, later. */
static void on_vanish(uint64_t name, uint64_t arg)
{
    const struct tcp *t = tcp_named(name);

    (void)arg;
    if (t == NULL || client_of(t)->is_gone || client_of(t)->has_vanished)
        return;
    client_of(t)->has_vanished = true;
    clients_figures.n_vanished++;
    if (world_chance(500))
        tcp_refuse_at((uint32_t)name, world.now_ns + world_up_to(2000 * MS), ETIMEDOUT);
}

/* A subscriber leaves. */
static void on_leave(uint64_t name, uint64_t arg)
{
    const struct tcp *t = tcp_named(name);

    (void)arg;
    if (t != NULL && !client_of(t)->is_gone && !client_of(t)->has_vanished)
        finish(client_of(t), (uint32_t)name);
}

/* --- coming --- */

static void draw(struct client *c)
{
    const struct scenario *s = &world.scenario;

    c->to_send = world_up_to(9) == 0 ? 0 : 1 + world_up_to(s->message_bytes - 1);
    c->never_reads = world_chance(s->unread_permille);
    c->slow_ns = world_chance(s->slow_permille) ? s->slow_us * US : 0;
    c->half_closes = world_chance(s->half_close_permille);
    c->stays = world_chance(s->stay_permille);
    c->address = 0x0a010000u + (uint32_t)world_up_to(s->sources - 1);
    headers_draw(c);
}

static void begin_life(struct client *c, uint32_t i)
{
    const struct scenario *s = &world.scenario;
    const uint64_t name = tcp_name(i, tcp_at(i));
    const uint64_t some_ns = world_up_to(2 * s->duration_us * US);

    world_at(world.now_ns + 2 * client_way_ns(), on_send, name, 0);
    if (world_chance(s->abort_permille))
        world_at(world.now_ns + some_ns, on_abort, name, 0);
    else if (world_chance(s->vanish_permille))
        world_at(world.now_ns + some_ns, on_vanish, name, 0);
    else if (clients_push() && !c->stays)
        world_at(world.now_ns + some_ns, on_leave, name, 0);
}

/* A listener that is open; -1: none. */
static int64_t choose_listener(void)
{
    const uint32_t first = (uint32_t)world_up_to(n_listeners - 1);

    for (uint32_t k = 0; k < n_listeners; k++) {
        const struct descriptor *d = descriptor_of(listener_fds[(first + k) % n_listeners]);

        if (d != NULL && d->kind == DESCRIPTOR_SOCKET && tcp_at(d->tcp)->state == TCP_LISTENING)
            return d->tcp;
    }
    return -1;
}

static void on_try(uint64_t id, uint64_t try)
{
    struct client *c = &clients.all[id];
    const int64_t listener = choose_listener();
    int64_t i = -1;

    if (listener < 0 || try == MOST_TRIES)
        return;
    if (!world_chance(world.scenario.syn_lost_permille))
        i = tcp_arrive((uint32_t)listener, c->address, (uint16_t)(FIRST_PORT + id));
    world_trace("arrives", (int64_t)id, i, (int64_t)try);
    if (i < 0) {
        world_at(world.now_ns + (1ull << try) * 1000 * MS, on_try, id, try + 1);
        return;
    }
    clients_figures.n_established++;
    tcp_at((uint32_t)i)->peer.client = (uint32_t)id;
    begin_life(c, (uint32_t)i);
}

void clients_come(void)
{
    const struct scenario *s = &world.scenario;
    uint64_t at_ns = world.now_ns;

    for (uint32_t id = 0; id < clients.n; id++) {
        if (id % s->burst == 0)
            at_ns = world.now_ns + world_up_to(s->duration_us * US);
        if (id % 8 == 7 || id + 1 == clients.n)
            at_ns = calm_ns + world_up_to(100 * MS);
        draw(&clients.all[id]);
        clients_figures.n_came++;
        world_at(at_ns + client_way_ns(), on_try, id, 0);
    }
}

/* Of calls that accepting needs. */
static bool has_faults(const struct scenario *s)
{
    return s->accept_permille + s->open_permille + s->start_permille + s->watch_permille +
               s->malloc_ppm >
           0;
}

void clients_begin(const struct server_config *of_workers, const int *fds, uint32_t n_fds,
                   uint64_t at_ns)
{
    clients.config = of_workers;
    listener_fds = fds;
    n_listeners = n_fds;
    calm_ns = at_ns;
    clients.expects_closing = false;
    clients.had_faults = has_faults(&world.scenario);
    clients.n = (uint32_t)world.scenario.connections;
    if (clients.n > room) {
        room = clients.n;
        clients.all = memory_own(clients.all, room * sizeof *clients.all);
    }
    memset(clients.all, 0, clients.n * sizeof *clients.all);
    clients_figures = (struct clients_figures){0};
    progress_begin();
    headers_begin();
    answers_begin();
    peer_tls_begin();
}

void clients_expect_closing(void)
{
    clients.expects_closing = true;
}

/* --- the end of a connection, as an event of the world --- */

static void on_connect(uint32_t i)
{
    violation("tcpserver connects: %u", i);
}

static void on_close(uint32_t i)
{
    peer_tls_close(i);
}

const struct tcp_end clients_end = {
    .on_connect = on_connect, .on_data = on_data, .on_close = on_close};
