/* SPDX-License-Identifier: MIT
 * ledger: what tcpserver does with the connection of each client - accepts, reads, refuses and
 * closes it - and whether it may.  Called by the simulated calls, and by the wrapped functions of
 * the product. */
#include "ledger.h"
#include "answers.h"
#include "client.h"
#include "clients.h"
#include "descriptor.h"
#include "drive.h"
#include "fiber.h"
#include "headers.h"
#include "net/tls.h"
#include "peer_tls.h"
#include "server/header.h"
#include "server/service.h"
#include "tls_claims.h"
#include "violation.h"
#include "world.h"

#include <errno.h>
#include <inttypes.h>

static uint64_t waited_ns[FIBER_MOST]; /* when each thread last called epoll_wait(2) */

int __real_server_service_open(struct server_conns *conns, int fd, uint32_t source_entry,
                               const struct srcplan_tuple *peer);
int __wrap_server_service_open(struct server_conns *conns, int fd, uint32_t source_entry,
                               const struct srcplan_tuple *peer);
int __real_server_header_open(struct server_conns *conns, int fd, const struct srcplan_tuple *peer);
int __wrap_server_header_open(struct server_conns *conns, int fd, const struct srcplan_tuple *peer);
void __real_tls_end(struct tls *t);
void __wrap_tls_end(struct tls *t);

void clients_accepted(uint32_t i)
{
    struct client *c = client_of(tcp_at(i));

    LAW(!c->was_accepted, "client %u: accepted twice", tcp_at(i)->peer.client);
    c->was_accepted = true;
    c->accepted_ns = world.now_ns;
    clients_figures.n_accepted++;
}

void clients_lose(uint32_t i)
{
    client_of(tcp_at(i))->is_gone = true;
    clients_figures.n_lost++;
}

static uint64_t served_of(uint32_t address)
{
    uint64_t n = 0;

    for (uint32_t id = 0; id < clients.n; id++)
        n += clients.all[id].is_served && headers_address(&clients.all[id]) == address;
    return n;
}

struct client *clients_of_fd(int fd)
{
    return client_of(tcp_at(descriptor_of(fd)->tcp));
}

static void begin(struct client *c)
{
    const struct scenario *s = &world.scenario;
    struct clients_figures *f = &clients_figures;

    c->is_open = true;
    if (++f->n_active > f->n_peak)
        f->n_peak = f->n_active;
    LAW(s->max_connections == 0 || f->n_active <= s->max_connections,
        "%" PRIu64 " connections of at most %" PRIu64, f->n_active, s->max_connections);
}

void clients_begin_service(struct client *c)
{
    const struct scenario *s = &world.scenario;

    c->is_served = true;
    clients_figures.n_served++;
    LAW(s->max_per_source == 0 || served_of(headers_address(c)) <= s->max_per_source,
        "%" PRIu64 " connections of one source", served_of(headers_address(c)));
}

int __wrap_server_service_open(struct server_conns *conns, int fd, uint32_t source_entry,
                               const struct srcplan_tuple *peer)
{
    struct client *c = clients_of_fd(fd);
    int error;

    LAW(world.scenario.proxy == 0, "served without a PROXY header");
    begin(c);
    clients_begin_service(c);
    error = __real_server_service_open(conns, fd, source_entry, peer);
    if (error == 0)
        return 0;
    c->is_open = c->is_served = false;
    clients_figures.n_served--;
    clients_figures.n_active--;
    return error;
}

int __wrap_server_header_open(struct server_conns *conns, int fd, const struct srcplan_tuple *peer)
{
    struct client *c = clients_of_fd(fd);
    int error;

    begin(c);
    error = __real_server_header_open(conns, fd, peer);
    if (error == 0)
        return 0;
    c->is_open = false;
    clients_figures.n_active--;
    return error;
}

void __wrap_tls_end(struct tls *t)
{
    struct tcp_tls *of = &tcp_at(tls_claims_of(t))->tls;

    of->is_ended = of->is_established && !tls_is_ended_by_peer(t);
    __real_tls_end(t);
}

static void take_plain(uint32_t i, const uint8_t *data, size_t n_bytes)
{
    const struct tcp *t = tcp_at(i);
    struct client *c = client_of(t);

    for (size_t k = 0; k < n_bytes; k++) {
        LAW(data[k] == answers_byte(t->peer.client, c->received), "client %u: byte %" PRIu64,
            t->peer.client, c->received);
        answers_expect(c, data[k]);
        c->received++;
    }
    clients_has_read(i);
}

void ledger_on_received(uint32_t i, const uint8_t *data, size_t n_bytes, uint64_t arrived_ns,
                        bool is_drained)
{
    const struct tcp *t = tcp_at(i);
    struct client *c = client_of(t);
    const size_t n_header = headers_on_received(c, data, n_bytes);

    (void)arrived_ns;
    (void)is_drained;
    data += n_header;
    n_bytes -= n_header;
    LAW(c->is_open, "client %u: read before it is accepted", t->peer.client);
    LAW(clients_push() || c->answered == c->expected,
        "client %u: read while %" PRIu64 " bytes are still to be sent", t->peer.client,
        c->expected - c->answered);
    clients_figures.bytes_received += n_bytes;
    if (!clients_use_tls())
        take_plain(i, data, n_bytes);
}

void ledger_on_plain(const uint8_t *data, size_t n_bytes)
{
    take_plain(fiber_read_from[fiber_current()], data, n_bytes);
}

/* Whether the rest of the last send(2) could not be kept: the connection has ended for that. */
static bool could_not_wait(const struct tcp *t)
{
    return t->was_short && fiber_n_refusals[fiber_current()] > t->last.n_refusals;
}

/* With TLS: the cause known from the last record.  After the peer's close_notify, the server closes
 * once everything is sent. */
static bool explain_tls(const struct tcp *t, struct outcome *cause)
{
    const struct client *c = client_of(t);

    if (t->tls.status == TLS_FAILED && !could_not_wait(t)) {
        cause->phase = t->tls.is_established ? PHASE_RECEIVE : PHASE_TLS;
        cause->reason = (enum outcome_reason)t->tls.reason;
        return true;
    }
    if (t->tls.status != TLS_CLOSED || c->answered < c->expected || t->was_short)
        return false;
    cause->phase = t->tls.is_established ? PHASE_RECEIVE : PHASE_TLS;
    cause->reason = REASON_PEER;
    LAW(peer_tls_was_ended((uint32_t)(t - tcp_at(0))) || t->fin || t->state != TCP_ESTABLISHED,
        "client %u: closed without close_notify", t->peer.client);
    return true;
}

/* The cause known from the last call; false: none. */
static bool explain(const struct tcp *t, struct outcome *cause)
{
    const struct tcp_call *last = &t->last;
    const bool is_secured = !clients_use_tls() || t->tls.is_established;

    if (last->at_ns == 0 || last->result > 0 || last->result == -EAGAIN || last->result == -EINTR)
        return clients_use_tls() && explain_tls(t, cause);
    cause->phase = last->is_send ? PHASE_SEND : is_secured ? PHASE_RECEIVE : PHASE_TLS;
    cause->reason = last->result == 0 ? REASON_PEER : outcome_reason_of_errno(-last->result);
    return true;
}

/* Whether the running thread has called recv(2) for it since it last waited. */
static bool was_looked_at(const struct tcp *t)
{
    return t->looked_ns > waited_ns[fiber_current()];
}

static void check_idle(const struct client *c, const struct tcp *t)
{
    const uint64_t since_ns = t->last.at_ns != 0 ? t->last.at_ns : c->accepted_ns;
    const struct scenario *s = &world.scenario;
    /* and found nothing: this arrived between two calls */
    const bool has_just_looked = was_looked_at(t) && t->arrived_ns >= t->looked_ns;

    if (clients.expects_closing || s->malloc_ppm > 0 || t->was_unwatched)
        return;
    LAW(clients.config->idle_timeout_ns > 0 &&
            world.now_ns - since_ns + client_early_ns() >= clients.config->idle_timeout_ns,
        "client %u: closed without a cause, %" PRIu64 " ns after the last call", t->peer.client,
        world.now_ns - since_ns);
    /* unless it could not send: of TLS that may be its handshake or a ticket */
    LAW(t->visible <= t->head || has_just_looked || c->answered < c->expected ||
            s->again_permille > 0 || (s->tls && s->sndbuf_bytes > 0),
        "client %u: closed as idle with bytes to read", t->peer.client);
}

/* With bytes that are not acknowledged, the kernel would keep the socket; without any, a reset
 * would look like a failure. */
static void check_reset(const struct client *c, const struct tcp *t)
{
    if (clients.expects_closing || world.scenario.malloc_ppm > 0 || t->was_unwatched)
        return;
    LAW(t->reset_on_close || t->in_flight == 0 || t->tls.is_ended,
        "client %u: closed as idle with %u bytes that it has not read", t->peer.client,
        t->in_flight);
    LAW(!t->reset_on_close || t->unacknowledged_was_told || c->answered < c->expected ||
            t->was_short,
        "client %u: reset as idle, but it has read everything", t->peer.client);
}

/* For connections that the server ends itself: the client must learn that nothing is missing. */
static void check_close_notify(const struct client *c, const struct tcp *t)
{
    LAW(t->tls.is_ended || !t->tls.is_established || t->was_short || t->was_unwatched ||
            c->answered < c->expected || world.scenario.malloc_ppm > 0,
        "client %u: ended without close_notify", t->peer.client);
}

/* Its PROXY header is not complete, or it cannot be served in spite of it. */
static bool is_refused(const struct client *c, const struct tcp *t)
{
    return !c->is_served || (c->is_beginning && t->reset_on_close);
}

static void refuse(struct client *c, const struct tcp *t)
{
    struct outcome cause;

    LAW(t->reset_on_close, "client %u: refused without a reset", t->peer.client);
    LAW(clients.expects_closing || t->visible <= t->head || was_looked_at(t),
        "client %u: refused with bytes to read", t->peer.client);
    clients_figures.n_served -= c->is_served;
    clients_figures.n_refused++;
    c->is_served = false;
    headers_on_refusal(c, explain(t, &cause), world.scenario.malloc_ppm > 0 || t->was_unwatched);
}

static void release(const struct tcp *t)
{
    struct client *c = client_of(t);
    struct outcome cause;

    c->is_open = false;
    clients_figures.n_active--;
    if (is_refused(c, t)) {
        refuse(c, t);
        return;
    }
    c->is_served = false;
    clients_figures.n_begun += c->stream.offset > 0;
    if (explain(t, &cause)) {
        clients_figures.closed[cause.phase][cause.reason]++;
        LAW(cause.reason != REASON_PEER || clients_push() || c->answered == c->expected,
            "client %u: closed with %" PRIu64 " bytes still to be sent", t->peer.client,
            c->expected - c->answered);
    } else {
        clients_figures.n_unexplained++;
        check_close_notify(c, t);
        check_idle(c, t);
        check_reset(c, t);
    }
}

/* If there is no other reason: a limit has been reached, or all tables are full. */
static void check_refusal(const struct tcp *t)
{
    const struct scenario *s = &world.scenario;

    if (clients.had_faults || s->preempt_permille > 0 || s->memory_grant > 0 ||
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
    if (client_of(t)->is_open) {
        release(t);
        return;
    }
    LAW(t->reset_on_close && t->last.at_ns == 0, "client %u: refused without a reset",
        t->peer.client);
    check_refusal(t);
    clients_figures.n_refused++;
}

/* --- what only the simulation of tcpclient needs --- */

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

void ledger_on_wait(void)
{
    waited_ns[fiber_current()] = world.now_ns;
}

void ledger_on_write(uint32_t i)
{
    (void)i;
}

bool drive_is_drained(int fiber)
{
    (void)fiber;
    return false;
}
