/* SPDX-License-Identifier: MIT
 * clients: see clients.h. */
#include "clients.h"

#include "descriptor.h"
#include "drive.h"
#include "ledger.h"
#include "memory.h"
#include "protocol/push_message.h"
#include "server/conn.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define US 1000ull
#define MS 1000000ull

/* Of a message, on a host that is not overloaded. */
#define MOST_LAG_NS (1000 * MS)

enum { MOST_TRIES = 4, FIRST_PORT = 1024, CHUNK_BYTES = 65536, N_LISTENERS = 64 };

struct client {
    uint64_t tcp; /* name; 0: none */
    uint32_t address;
    /* what it does */
    uint64_t to_send;
    bool never_reads, half_closes, stays;
    uint64_t slow_ns;
    /* what it has done */
    uint64_t sent, n_read, reads_until_ns;
    bool is_blocked, has_finished, is_gone, has_vanished;
    /* what the server has done */
    bool was_accepted, is_served;
    uint64_t received; /* bytes that it has read ... */
    uint64_t expected; /* ... to which it answers this many ... */
    uint64_t answered; /* ... of which it has sent these */
    uint32_t word;     /* the last four received */
    uint64_t accepted_ns, ready_ns;
    struct push_stream stream;
    uint64_t next_sequence, intended_ns;
};

/* Of a listener's queue. */
struct waiting {
    uint64_t first, since_ns;
};

static struct waiting first_waiting[N_LISTENERS]; /* listeners have the first places */
static const struct server_config *config;
static const int *listener_fds;
static uint32_t n_listeners;
static struct client *all;
static uint32_t n_clients, room;
static uint64_t calm_ns;
static bool expects_closing, had_faults;
static struct push_pattern pattern;
struct clients_figures clients_figures;

int __real_server_conn_open(struct server_conns *conns, int fd, uint32_t source_entry);
int __wrap_server_conn_open(struct server_conns *conns, int fd, uint32_t source_entry);

static bool pushes(void)
{
    return config->push_rate_per_s > 0;
}

static struct client *of(const struct tcp *t)
{
    return &all[t->peer.client];
}

static uint64_t way_ns(void)
{
    return (world.scenario.latency_us + world_up_to(world.scenario.jitter_us)) * US;
}

/* --- bytes --- */

/* Byte k that client c sends.  To a server of pings: half of the words are pings, the others their
 * letters in any order. */
static uint8_t byte_of(uint64_t c, uint64_t k)
{
    static const uint8_t word[4] = {'P', 'i', 'n', 'g'}, letters[8] = "PPPingX";
    uint64_t hash;

    if (config->protocol != SERVER_PING)
        return (uint8_t)((c * 0x9e3779b97f4a7c15ull + k) * 0xbf58476d1ce4e5b9ull >> 40);
    k += c;
    hash = world_mix(world_mix(world.scenario.seed, c), k / 4);
    return (hash & 1) != 0 ? word[k % 4] : letters[hash >> (8 + 3 * (k % 4)) & 7];
}

/* What the server answers to one more byte. */
static void expect(struct client *c, uint8_t byte)
{
    c->word = c->word << 8 | byte;
    if (pushes())
        return;
    if (config->protocol != SERVER_PING)
        c->expected++;
    else if (c->word == 0x50696e67) /* "Ping", which does not overlap itself */
        c->expected += 4;
}

static void check_answer(struct client *c, const uint8_t *data, size_t n_bytes)
{
    const uint64_t id = (uint64_t)(c - all);

    LAW(c->answered + n_bytes <= c->expected,
        "client %" PRIu64 ": answer of %" PRIu64 " bytes, %" PRIu64 " expected", id,
        c->answered + n_bytes, c->expected);
    for (size_t k = 0; k < n_bytes; k++) {
        const uint64_t at = c->answered + k;
        const uint8_t expected =
            config->protocol == SERVER_PING ? (uint8_t) "Pong"[at % 4] : byte_of(id, at);

        LAW(data[k] == expected, "client %" PRIu64 ": byte %" PRIu64 " is %02x, not %02x", id, at,
            data[k], expected);
    }
}

static void take_message(struct client *c)
{
    const struct push_message *m = &c->stream.message;
    const bool lacks_greeting = c->next_sequence == 0 && m->sequence > 0; /* not counted */
    uint64_t n_lost;

    LAW(push_sequence_take(&c->next_sequence, m->sequence, &n_lost), "message %" PRIu64 " again",
        m->sequence);
    LAW(m->intended_ns <= m->sent_ns && m->sent_ns <= world.now_ns && m->sent_ns >= c->accepted_ns,
        "message %" PRIu64 " of a wrong time", m->sequence);
    LAW(m->sent_ns - m->intended_ns < MOST_LAG_NS, "message %" PRIu64 ": %" PRIu64 " ns late",
        m->sequence, m->sent_ns - m->intended_ns);
    if (m->sequence > 0) {
        LAW(m->intended_ns >= c->intended_ns, "message %" PRIu64 " was due before the one before",
            m->sequence);
        c->intended_ns = m->intended_ns;
        LAW(c->received > 0, "a message before the subscription");
        LAW(m->n_bytes == config->push_bytes, "message of %u bytes", m->n_bytes);
        clients_figures.n_messages++;
        clients_figures.n_gaps += n_lost - lacks_greeting;
    }
}

static void check_pushed(struct client *c, const uint8_t *data, size_t n_bytes)
{
    struct query_input in = {.data = data, .n_bytes = n_bytes};
    enum push_event event;

    while ((event = push_next(&c->stream, &pattern, &in)) != PUSH_MORE) {
        LAW(event == PUSH_MESSAGE, "message %" PRIu64 " is damaged", c->stream.message.sequence);
        take_message(c);
    }
    c->expected = c->answered + n_bytes;
}

/* --- sending --- */

static void finish(struct client *c, uint32_t i)
{
    if (c->has_finished)
        return;
    c->has_finished = true;
    tcp_finish_at(i, world.now_ns + way_ns());
}

/* The last byte is on its way, or was read. */
static void end_if_done(struct client *c, uint32_t i)
{
    if (c->sent < c->to_send || c->is_gone || c->has_vanished)
        return;
    if (c->half_closes ||
        (!c->stays && !pushes() && c->received == c->to_send && c->n_read == c->expected))
        finish(c, i);
}

static void send_chunk(struct client *c, uint32_t i)
{
    static uint8_t out[CHUNK_BYTES];
    const uint64_t id = (uint64_t)(c - all), unread = c->sent - c->received;
    uint64_t n = 1 + world_up_to(world.scenario.chunk_bytes - 1);

    if (n > c->to_send - c->sent)
        n = c->to_send - c->sent;
    if (n > world.scenario.window_bytes - unread)
        n = world.scenario.window_bytes - unread;
    for (uint64_t k = 0; k < n; k++)
        out[k] = byte_of(id, c->sent + k);
    c->sent += n;
    tcp_deliver_at(i, out, (size_t)n, world.now_ns + way_ns());
}

static void on_send(uint64_t name, uint64_t arg)
{
    const uint32_t i = (uint32_t)name;
    const struct tcp *t = tcp_named(name);
    struct client *c;

    (void)arg;
    if (t == NULL || t->state != TCP_ESTABLISHED)
        return;
    c = of(t);
    if (c->is_gone || c->has_vanished || c->has_finished)
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

/* --- reading --- */

static void on_read(uint64_t name, uint64_t n_bytes)
{
    const struct tcp *t = tcp_named(name);

    if (t == NULL)
        return;
    of(t)->n_read += n_bytes;
    end_if_done(of(t), (uint32_t)name);
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

static uint64_t on_data(uint32_t i, const uint8_t *data, size_t n_bytes)
{
    struct tcp *t = tcp_at(i);
    struct client *c = of(t);
    uint64_t at_ns = world.now_ns + way_ns();

    LAW(c->is_served, "client %u: data before it is served", t->peer.client);
    if (pushes())
        check_pushed(c, data, n_bytes);
    else
        check_answer(c, data, n_bytes);
    c->answered += n_bytes;
    clients_figures.bytes_sent += n_bytes;
    if (at_ns < t->last_arrival_ns)
        at_ns = t->last_arrival_ns;
    t->last_arrival_ns = at_ns;
    if (c->is_gone)
        tcp_reset_at(i, at_ns + way_ns());
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
    if (t == NULL || of(t)->is_gone || of(t)->has_vanished)
        return;
    of(t)->is_gone = true;
    tcp_reset_at((uint32_t)name, world.now_ns + way_ns());
}

/* Some are given up by TCP, later. */
static void on_vanish(uint64_t name, uint64_t arg)
{
    const struct tcp *t = tcp_named(name);

    (void)arg;
    if (t == NULL || of(t)->is_gone || of(t)->has_vanished)
        return;
    of(t)->has_vanished = true;
    clients_figures.n_vanished++;
    if (world_chance(500))
        tcp_refuse_at((uint32_t)name, world.now_ns + world_up_to(2000 * MS), ETIMEDOUT);
}

/* A subscriber leaves. */
static void on_leave(uint64_t name, uint64_t arg)
{
    const struct tcp *t = tcp_named(name);

    (void)arg;
    if (t != NULL && !of(t)->is_gone && !of(t)->has_vanished)
        finish(of(t), (uint32_t)name);
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
}

static void begin_life(struct client *c, uint32_t i)
{
    const struct scenario *s = &world.scenario;
    const uint64_t name = tcp_name(i, tcp_at(i));
    const uint64_t some_ns = world_up_to(2 * s->duration_us * US);

    world_at(world.now_ns + 2 * way_ns(), on_send, name, 0);
    if (world_chance(s->abort_permille))
        world_at(world.now_ns + some_ns, on_abort, name, 0);
    else if (world_chance(s->vanish_permille))
        world_at(world.now_ns + some_ns, on_vanish, name, 0);
    else if (pushes() && !c->stays)
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
    struct client *c = &all[id];
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

    for (uint32_t id = 0; id < n_clients; id++) {
        if (id % s->burst == 0)
            at_ns = world.now_ns + world_up_to(s->duration_us * US);
        if (id % 8 == 7 || id + 1 == n_clients)
            at_ns = calm_ns + world_up_to(100 * MS);
        draw(&all[id]);
        clients_figures.n_came++;
        world_at(at_ns + way_ns(), on_try, id, 0);
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
    config = of_workers;
    listener_fds = fds;
    n_listeners = n_fds;
    calm_ns = at_ns;
    expects_closing = false;
    had_faults = has_faults(&world.scenario);
    n_clients = (uint32_t)world.scenario.connections;
    if (n_clients > room) {
        room = n_clients;
        all = memory_own(all, room * sizeof *all);
    }
    memset(all, 0, n_clients * sizeof *all);
    clients_figures = (struct clients_figures){0};
    memset(first_waiting, 0, sizeof first_waiting);
    push_pattern_fill(&pattern);
}

void clients_expect_closing(void)
{
    expects_closing = true;
}

/* --- what the server does --- */

void clients_accepted(uint32_t i)
{
    struct client *c = of(tcp_at(i));

    LAW(!c->was_accepted, "client %u: accepted twice", tcp_at(i)->peer.client);
    c->was_accepted = true;
    c->accepted_ns = world.now_ns;
    clients_figures.n_accepted++;
}

void clients_lose(uint32_t i)
{
    of(tcp_at(i))->is_gone = true;
    clients_figures.n_lost++;
}

static uint64_t served_of(uint32_t address)
{
    uint64_t n = 0;

    for (uint32_t id = 0; id < n_clients; id++)
        n += all[id].is_served && all[id].address == address;
    return n;
}

int __wrap_server_conn_open(struct server_conns *conns, int fd, uint32_t source_entry)
{
    const struct scenario *s = &world.scenario;
    struct client *c = of(tcp_at(descriptor_of(fd)->tcp));
    struct clients_figures *f = &clients_figures;

    c->is_served = true;
    f->n_served++;
    if (++f->n_active > f->n_peak)
        f->n_peak = f->n_active;
    LAW(s->max_connections == 0 || f->n_active < s->max_connections + s->workers + s->spare_workers,
        "%" PRIu64 " connections of at most %" PRIu64, f->n_active, s->max_connections);
    LAW(s->max_per_source == 0 || served_of(c->address) <= s->max_per_source,
        "%" PRIu64 " connections of one source", served_of(c->address));
    if (__real_server_conn_open(conns, fd, source_entry) == 0)
        return 0;
    c->is_served = false;
    f->n_served--;
    f->n_active--;
    return -1;
}

void ledger_on_received(uint32_t i, const uint8_t *data, size_t n_bytes, uint64_t arrived_ns,
                        bool is_drained)
{
    (void)arrived_ns;
    struct tcp *t = tcp_at(i);
    struct client *c = of(t);

    (void)is_drained;
    LAW(c->is_served, "client %u: read before it is served", t->peer.client);
    LAW(pushes() || c->answered == c->expected,
        "client %u: read while %" PRIu64 " bytes are still to be sent", t->peer.client,
        c->expected - c->answered);
    for (size_t k = 0; k < n_bytes; k++) {
        LAW(data[k] == byte_of(t->peer.client, c->received), "the simulation's own byte");
        expect(c, data[k]);
        c->received++;
    }
    clients_figures.bytes_received += n_bytes;
    if (c->is_blocked) {
        c->is_blocked = false;
        world_at(world.now_ns + 2 * way_ns(), on_send, tcp_name(i, t), 0);
    }
}

/* The cause that the last call has told; false: none. */
static bool explain(const struct tcp *t, struct outcome *cause)
{
    const struct tcp_call *last = &t->last;

    if (last->at_ns == 0 || last->result > 0 || last->result == -EAGAIN || last->result == -EINTR)
        return false;
    cause->phase = last->is_send ? PHASE_SEND : PHASE_RECEIVE;
    cause->reason = last->result == 0 ? REASON_PEER : outcome_reason_of_errno(-last->result);
    return true;
}

static void check_idle(const struct client *c, const struct tcp *t)
{
    const uint64_t since_ns = t->last.at_ns != 0 ? t->last.at_ns : c->accepted_ns;
    const struct scenario *s = &world.scenario;
    /* of the coarse clock, and of a turn */
    const uint64_t early_ns = 8 * MS + 2000 * s->call_ns + 200 * s->preempt_permille * s->wakeup_us;

    if (expects_closing || s->malloc_ppm > 0 || s->watch_permille > 0)
        return;
    LAW(config->idle_timeout_ns > 0 &&
            world.now_ns - since_ns + early_ns >= config->idle_timeout_ns,
        "client %u: closed without a cause, %" PRIu64 " ns after the last call", t->peer.client,
        world.now_ns - since_ns);
}

static void release(const struct tcp *t)
{
    struct client *c = of(t);
    struct outcome cause;

    c->is_served = false;
    clients_figures.n_active--;
    clients_figures.n_begun += c->stream.offset > 0;
    if (explain(t, &cause)) {
        clients_figures.closed[cause.phase][cause.reason]++;
        LAW(cause.reason != REASON_PEER || pushes() || c->answered == c->expected,
            "client %u: closed with %" PRIu64 " bytes still to be sent", t->peer.client,
            c->expected - c->answered);
    } else {
        clients_figures.n_unexplained++;
        check_idle(c, t);
    }
}

/* Where nothing else is a reason: a limit has been reached, or all tables are full. */
static void check_refusal(const struct tcp *t)
{
    const struct scenario *s = &world.scenario;

    if (had_faults || s->preempt_permille > 0 || s->memory_grant > 0 ||
        (s->fd_limit > 0 && !s->own_tables) ||
        (s->max_connections > 0 && clients_figures.n_active >= s->max_connections) ||
        (s->max_per_source > 0 && served_of(t->address) >= s->max_per_source))
        return;
    LAW(s->fd_limit > 0, "client %u: refused without a reason", t->peer.client);
    LAW(descriptor_room() <= 1, "client %u: refused, but %" PRIu64 " descriptors are free",
        t->peer.client, descriptor_room() - 1); /* less that of the refused one */
}

void ledger_on_close(uint32_t i)
{
    const struct tcp *t = tcp_at(i);
    int64_t waiting;

    if (t->state == TCP_LISTENING) {
        while ((waiting = tcp_take_waiting(i)) >= 0) {
            clients_lose((uint32_t)waiting);
            tcp_close((uint32_t)waiting);
        }
        return;
    }
    if (of(t)->is_served) {
        release(t);
        return;
    }
    LAW(t->reset_on_close && t->last.at_ns == 0, "client %u: refused without a reset",
        t->peer.client);
    check_refusal(t);
    clients_figures.n_refused++;
}

/* --- progress --- */

/* Whether the server has something to do for it. */
static bool is_ready(const struct client *c, const struct tcp *t)
{
    const bool is_writable = (tcp_ready((uint32_t)(t - tcp_at(0))) & EPOLLOUT) != 0;

    if (c->answered < c->expected)
        return is_writable;
    if (pushes() && !is_writable) /* perhaps it holds the rest of a message */
        return false;
    return t->visible > t->head || t->fin || t->state == TCP_BROKEN;
}

static void check_connection(uint32_t i, uint64_t most_ns)
{
    const struct tcp *t = tcp_at(i);
    struct client *c = of(t);
    const uint64_t idle_since_ns = t->last.at_ns != 0 ? t->last.at_ns : c->accepted_ns;

    if (!c->is_served)
        return;
    LAW(config->idle_timeout_ns == 0 ||
            world.now_ns < idle_since_ns + config->idle_timeout_ns + most_ns,
        "client %u: idle for too long", t->peer.client);
    if (!is_ready(c, t)) {
        c->ready_ns = 0;
        return;
    }
    if (c->ready_ns == 0 || c->ready_ns < idle_since_ns)
        c->ready_ns = world.now_ns;
    LAW(world.now_ns < c->ready_ns + most_ns, "client %u: the server does not care",
        t->peer.client);
}

/* The first of a queue is accepted or refused. */
static void check_queue(uint32_t listener, uint64_t most_ns)
{
    const struct tcp_queue *q = &tcp_at(listener)->queue;
    struct waiting *w = &first_waiting[listener % N_LISTENERS];

    if (q->n == 0 || w->first != tcp_name(q->first, tcp_at(q->first))) {
        w->first = q->n > 0 ? tcp_name(q->first, tcp_at(q->first)) : 0;
        w->since_ns = world.now_ns;
    }
    LAW(world.now_ns < w->since_ns + most_ns, "nobody accepts: %u wait", q->n);
}

void clients_check_progress(uint64_t most_ns, bool accepts)
{
    for (int fd = DESCRIPTOR_FIRST; fd < DESCRIPTOR_FIRST + (int)descriptor_n_used(); fd++) {
        const struct descriptor *d = descriptor_of(fd);

        if (d == NULL || d->kind != DESCRIPTOR_SOCKET)
            continue;
        if (tcp_at(d->tcp)->state != TCP_LISTENING)
            check_connection(d->tcp, most_ns);
        else if (accepts)
            check_queue(d->tcp, most_ns);
        else
            first_waiting[d->tcp % N_LISTENERS].first = 0;
    }
}

/* --- what the calls tell the client's simulation --- */

static void on_connect(uint32_t i)
{
    violation("tcpserver connects: %u", i);
}

static void on_close(uint32_t i)
{
    (void)i;
}

const struct tcp_end clients_end = {
    .on_connect = on_connect, .on_data = on_data, .on_close = on_close};

void ledger_on_clock(uint64_t now_ns)
{
    (void)now_ns;
}

void ledger_on_end(uint32_t i)
{
    (void)i;
}

void ledger_on_turn(void)
{
}

bool drive_is_drained(int fiber)
{
    (void)fiber;
    return false;
}
