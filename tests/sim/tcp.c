/* SPDX-License-Identifier: MIT
 * tcp: see tcp.h. */
#include "tcp.h"

#include "memory.h"
#include "readiness.h"
#include "world.h"

#include <errno.h>
#include <string.h>

/* Limit on one send if the scenario sets none. */
enum { SNDBUF_BYTES = 1 << 22, FIRST_ROOM_BYTES = 64 };

/* The kernel's: whole datagrams fit. */
enum { LEAST_SNDBUF_BYTES = 4608 };

static const struct tcp_end *other;
static struct tcp *all;
static uint32_t n_used, room;
static uint32_t first_free; /* 1 + slot, linked by tcp.tail; 0: none */
struct tcp_figures tcp_figures;

void tcp_begin(const struct tcp_end *end)
{
    other = end;
    n_used = first_free = 0;
    tcp_figures = (struct tcp_figures){0};
}

struct tcp *tcp_at(uint32_t i)
{
    return &all[i];
}

uint32_t tcp_n_places(void)
{
    return n_used;
}

struct tcp *tcp_named(uint64_t name)
{
    struct tcp *t = &all[(uint32_t)name];

    return t->serial == name >> 32 && t->state != TCP_FREE ? t : NULL;
}

static uint32_t take_slot(void)
{
    const uint32_t i = first_free - 1;
    const uint32_t before = room;

    if (first_free != 0) {
        first_free = all[i].tail;
        return i;
    }
    if (n_used == room) {
        room = room > 0 ? 2 * room : 256;
        all = memory_own(all, room * sizeof *all);
        memset(all + before, 0, (room - before) * sizeof *all);
    }
    return n_used++;
}

uint32_t tcp_new(int fd)
{
    const uint32_t i = take_slot();
    struct tcp *t = &all[i];

    *t = (struct tcp){
        .serial = t->serial + 1,
        .fd = fd,
        .state = TCP_NEW,
        .received = t->received,
        .room = t->room,
        .ledger = {.first_entry = UINT32_MAX, .last_entry = UINT32_MAX, .highest_id = UINT32_MAX}};
    tcp_figures.n_sockets++;
    return i;
}

/* --- readiness --- */

static uint32_t sndbuf_bytes(const struct tcp *t)
{
    const uint32_t least = t->is_datagram ? LEAST_SNDBUF_BYTES : 0;

    return world.scenario.sndbuf_bytes > 0 ? least + (uint32_t)world.scenario.sndbuf_bytes
                                           : SNDBUF_BYTES;
}

/* As in the kernel: not before a third of the buffer is free. */
static bool is_writable(const struct tcp *t)
{
    return t->in_flight < sndbuf_bytes(t) && sndbuf_bytes(t) - t->in_flight >= t->in_flight / 2;
}

uint32_t tcp_ready(uint32_t i)
{
    const struct tcp *t = &all[i];
    const uint32_t readable = t->visible > t->head || t->fin ? EPOLLIN : 0;

    switch ((enum tcp_state)t->state) {
    case TCP_ESTABLISHED:
        return readable | (is_writable(t) ? EPOLLOUT : 0) | (t->fin ? EPOLLRDHUP : 0);
    case TCP_BROKEN:
        return EPOLLIN | EPOLLOUT | EPOLLHUP | EPOLLRDHUP | (t->error_was_told ? 0 : EPOLLERR);
    case TCP_LISTENING:
        return t->queue.n > 0 ? EPOLLIN : 0;
    default:
        return 0;
    }
}

/* --- the product's end --- */

int tcp_connect(uint32_t i)
{
    struct tcp *t = &all[i];

    if (t->state != TCP_NEW)
        return EISCONN;
    t->state = TCP_CONNECTING;
    tcp_figures.n_connects++;
    other->on_connect(i);
    return EINPROGRESS;
}

int tcp_take_error(uint32_t i)
{
    struct tcp *t = &all[i];

    if (t->state != TCP_BROKEN || t->error_was_told)
        return 0;
    t->error_was_told = true;
    if (t->is_datagram) /* it was about what was sent before */
        t->state = TCP_ESTABLISHED;
    return t->error;
}

static void on_room(uint64_t name, uint64_t n_bytes)
{
    struct tcp *t = tcp_named(name);

    if (t == NULL)
        return;
    t->in_flight -= (uint32_t)n_bytes;
    readiness_changed(t->fd);
}

size_t tcp_room(uint32_t i)
{
    return sndbuf_bytes(&all[i]) - all[i].in_flight;
}

ssize_t tcp_send(uint32_t i, const uint8_t *data, size_t n_bytes)
{
    struct tcp *t = &all[i];
    uint64_t read_ns;

    if (t->state == TCP_BROKEN) {
        const int error = tcp_take_error(i);

        return error != 0 ? -error : -EPIPE;
    }
    if (t->state != TCP_ESTABLISHED)
        return -ENOTCONN;
    if (t->has_shut_down)
        return -EPIPE;
    if (n_bytes > tcp_room(i))
        n_bytes = tcp_room(i);
    if (n_bytes == 0)
        return -EAGAIN;
    tcp_figures.bytes_sent += n_bytes;
    t->in_flight += (uint32_t)n_bytes;
    read_ns = other->on_data(i, data, n_bytes);
    t = &all[i]; /* it may have moved */
    if (world.scenario.sndbuf_bytes > 0 && read_ns == WORLD_NEVER)
        return (ssize_t)n_bytes;
    if (world.scenario.sndbuf_bytes > 0)
        world_at(read_ns, on_room, tcp_name(i, t), n_bytes);
    else
        t->in_flight -= (uint32_t)n_bytes;
    return (ssize_t)n_bytes;
}

ssize_t tcp_peek(uint32_t i)
{
    const struct tcp *t = &all[i];

    if (t->visible > t->head)
        return 1;
    if (t->fin) /* even if data arrived after it */
        return 0;
    if (t->state == TCP_BROKEN)
        return -tcp_take_error(i);
    return t->state == TCP_ESTABLISHED ? -EAGAIN : -ENOTCONN;
}

ssize_t tcp_receive(uint32_t i, uint8_t *data, size_t n_bytes)
{
    struct tcp *t = &all[i];
    size_t n = t->visible - t->head;

    if (n == 0)
        return tcp_peek(i);
    if (n > n_bytes)
        n = n_bytes;
    memcpy(data, t->received + t->head, n);
    t->head += (uint32_t)n;
    if (t->head == t->tail)
        t->head = t->visible = t->tail = 0;
    tcp_figures.bytes_received += n;
    return (ssize_t)n;
}

void tcp_shutdown(uint32_t i)
{
    all[i].has_shut_down = true;
    other->on_shutdown(i);
}

void tcp_close(uint32_t i)
{
    struct tcp *t = &all[i];

    other->on_close(i);
    t->state = TCP_FREE;
    if (t->room > 4096) {
        memory_disown(t->received);
        t->received = NULL;
        t->room = 0;
    }
    t->tail = first_free;
    first_free = i + 1;
}

/* --- the peer's end --- */

static void on_established(uint64_t name, uint64_t arg)
{
    struct tcp *t = tcp_named(name);

    (void)arg;
    if (t == NULL || t->state != TCP_CONNECTING)
        return;
    world_trace("established", t->fd, 0, 0);
    t->state = TCP_ESTABLISHED;
    tcp_figures.n_established++;
    readiness_changed(t->fd);
}

/* As the kernel: in CLOSE_WAIT, a reset is a broken pipe. */
static int error_of(const struct tcp *t, int error)
{
    return error == ECONNRESET && t->fin && !t->has_shut_down ? EPIPE : error;
}

static void on_broken(uint64_t name, uint64_t error)
{
    struct tcp *t = tcp_named(name);

    if (t == NULL || t->state == TCP_BROKEN)
        return;
    world_trace("broken", t->fd, (int64_t)error, 0);
    t->state = TCP_BROKEN;
    t->error = error_of(t, (int)error);
    t->error_was_told = false;
    readiness_changed(t->fd);
}

/* Datagrams arrive even while an error has not been reported yet. */
static bool takes_data(const struct tcp *t)
{
    return t->state == TCP_ESTABLISHED || (t->is_datagram && t->state == TCP_BROKEN);
}

static void on_data(uint64_t name, uint64_t n_bytes)
{
    struct tcp *t = tcp_named(name);

    if (t == NULL || !takes_data(t))
        return;
    world_trace("arrive", t->fd, (int64_t)n_bytes, 0);
    t->visible += (uint32_t)n_bytes;
    t->arrived_ns = world.now_ns;
    readiness_changed(t->fd);
}

static void on_fin(uint64_t name, uint64_t arg)
{
    struct tcp *t = tcp_named(name);

    (void)arg;
    if (t == NULL || t->state != TCP_ESTABLISHED)
        return;
    world_trace("fin", t->fd, 0, 0);
    t->fin = true;
    readiness_changed(t->fd);
}

void tcp_establish_at(uint32_t i, uint64_t at_ns)
{
    if (at_ns <= world.now_ns)
        on_established(tcp_name(i, &all[i]), 0);
    else
        world_at(at_ns, on_established, tcp_name(i, &all[i]), 0);
}

void tcp_refuse_at(uint32_t i, uint64_t at_ns, int error)
{
    world_at(at_ns, on_broken, tcp_name(i, &all[i]), (uint64_t)error);
}

/* Not before the data that were sent earlier. */
static uint64_t in_order(struct tcp *t, uint64_t at_ns)
{
    if (at_ns < t->last_delivery_ns)
        at_ns = t->last_delivery_ns;
    t->last_delivery_ns = at_ns;
    return at_ns;
}

static void make_room(struct tcp *t, size_t n_bytes)
{
    uint32_t needed = t->room > 0 ? t->room : FIRST_ROOM_BYTES;

    if (t->tail + n_bytes <= t->room)
        return;
    if (t->head > 0) {
        memmove(t->received, t->received + t->head, t->tail - t->head);
        t->visible -= t->head;
        t->tail -= t->head;
        t->head = 0;
    }
    while (needed < t->tail + n_bytes)
        needed *= 2;
    if (needed > t->room)
        t->received = memory_own(t->received, needed);
    t->room = needed;
}

void tcp_deliver_at(uint32_t i, const uint8_t *data, size_t n_bytes, uint64_t at_ns)
{
    struct tcp *t = &all[i];

    make_room(t, n_bytes);
    memcpy(t->received + t->tail, data, n_bytes);
    t->tail += (uint32_t)n_bytes;
    world_at(in_order(t, at_ns), on_data, tcp_name(i, t), n_bytes);
}

void tcp_finish_at(uint32_t i, uint64_t at_ns)
{
    world_at(in_order(&all[i], at_ns), on_fin, tcp_name(i, &all[i]), 0);
}

void tcp_reset_at(uint32_t i, uint64_t at_ns)
{
    world_at(at_ns, on_broken, tcp_name(i, &all[i]), ECONNRESET);
}
