/* SPDX-License-Identifier: MIT
 * client_conn: see client/worker/conn.h. */
#include "client/worker/conn.h"

#include "base/clock.h"
#include "base/log.h"
#include "client/worker/query.h"
#include "client/worker/tls.h"
#include "client/worker/worker.h"
#include "net/sock.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Receive calls per wake-up: a peer that sends without end must not keep the others waiting. */
enum { MAX_READS_PER_WAKEUP = 8 };

enum { MAX_TRIES_OF_USED = 64 };

/* Linux sends nothing again earlier: half of its least retransmission timeout (200 ms). */
#define RETRANSMIT_NS (100 * 1000000ull)

/* The last bytes of a broken connection are read into a buffer of their own: the worker's may be in
 * use, since what is read from one connection can make another one send. */
enum { BROKEN_BYTES = 4096 };

struct client_backlog {
    size_t n_bytes, n_sent, capacity;
    uint8_t data[];
};

static void on_connected(evutil_socket_t fd, short what, void *arg);
static void on_ready(evutil_socket_t fd, short what, void *arg);
static void on_heard(evutil_socket_t fd, short what, void *arg);

/* Over all workers. */
static uint32_t number(const struct client_conn *c)
{
    return c->worker->first_conn + (uint32_t)(c - c->worker->conns);
}

static int watch(struct client_conn *c, int fd, short what, event_callback_fn callback,
                 const struct timeval *timeout)
{
    event_assign(&c->event, c->worker->worker.base, fd, what, callback, c);
    return event_add(&c->event, timeout);
}

/* --- the way in --- */

/* Of a planned tuple; what the kernel refuses may become free again where others follow. */
static int connect_from(struct client_conn *c, const struct srcplan_tuple *source, uint64_t number,
                        struct outcome *failed)
{
    struct client_worker *cw = c->worker;
    struct client_life *life = client_life_of(c);
    const int fd = sock_connect(&cw->config->target, source, &cw->config->socket, failed);

    if (life != NULL && source->port != 0 && fd >= 0)
        life->tuple = number;
    else if (life != NULL && source->port != 0)
        srccursor_give_back(&cw->connect.tuples, number);
    return fd;
}

/* A tuple that the kernel refuses is replaced by the next one.  Of those used before the next one
 * has had most time to become free: when some are not, none is.  Where the kernel chooses the port
 * and finds none, planned tuples may still be free (client/sources.h). */
static int connect_from_next_tuple(struct client_conn *c, struct outcome *failed)
{
    struct client_connect *cc = &c->worker->connect;
    struct srcplan_tuple source;
    uint64_t number;
    int n_used_before = 0, fd = -1;

    *failed = (struct outcome){PHASE_BIND, REASON_PORTS};
    errno = EADDRNOTAVAIL;
    while (fd < 0 && failed->reason == REASON_PORTS) {
        if ((!srccursor_has_fresh(&cc->tuples) && n_used_before++ == MAX_TRIES_OF_USED) ||
            srccursor_next(&cc->tuples, &source, &number) != 0)
            break;
        fd = connect_from(c, &source, number, failed);
        if (source.port == 0 &&
            (fd >= 0 || failed->reason != REASON_PORTS || !client_connect_use_fallback(c->worker)))
            break;
    }
    if (fd < 0 && failed->reason == REASON_PORTS && c->worker->config->plan.ports == NULL)
        failed->phase = PHASE_CONNECT; /* where the kernel chooses, whichever call says so */
    return fd;
}

/* Segments sent again that the peer did not have; the others are loss probes (RFC 8985) and
 * timeouts for acknowledgements that came late. */
static uint32_t needed_retransmits(const struct sock_tcp *tcp)
{
    return tcp->retransmits > tcp->duplicates ? tcp->retransmits - tcp->duplicates : 0;
}

void client_conn_opening_took(struct client_conn *c, uint64_t ns)
{
    c->opens_slowly |= ns >= RETRANSMIT_NS;
}

/* PROVING or HALF_OPEN becomes LIVE, proven or (where no proof is asked for) not. */
static void become_usable(struct client_conn *c)
{
    struct client_worker *cw = c->worker;

    if (c->state == CLIENT_CONN_HALF_OPEN)
        tally_sub(&cw->n_half_open, 1);
    c->state = CLIENT_CONN_LIVE;
    tally_add(&cw->n_live, 1);
    if (c->opens_slowly) {
        const struct sock_tcp tcp = sock_tcp(event_get_fd(&c->event));

        tally_add(&cw->tally.connections.opening_retransmits, needed_retransmits(&tcp));
    }
    if (cw->lives.places != NULL)
        client_life_usable(c);
    client_load_joined(c);
    client_connect_settled(cw, c);
}

/* Proven by what it asks, or by what it hears. */
static int watch_established(struct client_conn *c, int fd)
{
    const struct client_worker *cw = c->worker;

    if (cw->config->listens) {
        client_listen_begin(c);
        return watch(c, fd, EV_READ | EV_PERSIST, on_heard,
                     cw->config->prove ? cw->listen.timeout : NULL);
    }
    return watch(c, fd, EV_READ | EV_PERSIST, on_ready, NULL);
}

/* Its bytes pass in both directions: PROVING. */
static void become_ready(struct client_conn *c, int fd)
{
    c->stream = (struct query_stream){0};
    c->state = CLIENT_CONN_PROVING;
    if (watch_established(c, fd) != 0)
        client_conn_close(c, (struct outcome){PHASE_RECEIVE, REASON_MEMORY}, ENOMEM);
    else if (!c->worker->config->prove)
        become_usable(c);
    else if (!c->worker->config->listens)
        client_load_prove(c);
}

void client_conn_secured(struct client_conn *c)
{
    const int fd = event_get_fd(&c->event);

    event_del(&c->event);
    become_ready(c, fd);
}

/* Without TIME_WAIT: that would keep the server from its port. */
static void refuse_itself(struct client_conn *c, int fd)
{
    sock_reset_on_close(fd);
    event_assign(&c->event, c->worker->worker.base, fd, 0, on_connected, c);
    client_conn_close(c, (struct outcome){PHASE_CONNECT, REASON_SELF}, 0);
}

static void establish(struct client_conn *c, int fd, uint32_t syn_retransmits)
{
    struct client_worker *cw = c->worker;
    struct client_record *record = client_worker_record(c);
    const uint64_t now_ns = clock_now_ns(), connect_ns = now_ns - c->connect_start_ns;

    hist_record(&cw->connect_times, connect_ns);
    client_conn_opening_took(c, connect_ns);
    tally_add(&cw->tally.connections.connected, 1);
    tally_add(&cw->tally.connections.syn_retransmits, syn_retransmits);
    if (record != NULL) {
        record->connect_ns = connect_ns;
        record->established_ns = now_ns;
        record->syn_retransmits += syn_retransmits;
        sock_local_tuple(fd, &record->source);
    }
    if (!c->settled)
        cw->connect.last_established_ns = now_ns;
    if (cw->tls != NULL)
        client_tls_begin(c, fd);
    else
        become_ready(c, fd);
}

static void on_established(struct client_conn *c, int fd, uint32_t syn_retransmits)
{
    if (c->worker->config->may_meet_itself && sock_is_its_own_peer(fd))
        refuse_itself(c, fd);
    else
        establish(c, fd, syn_retransmits);
}

/* Over loopback the handshake is over when connect(2) returns, although it says EINPROGRESS.  To
 * ask costs 0.2 us and saves watching for it, two epoll_ctl(2) and a wake-up: connecting is then as
 * fast as a loop of bind, connect and epoll_ctl alone (ratio 1.00; 0.8 without; bench/connect). */
void client_conn_open(struct client_conn *c)
{
    struct client_worker *cw = c->worker;
    struct client_record *record = client_worker_record(c);
    struct outcome failed;
    int fd;

    if (record != NULL)
        record->connections++;
    tally_add(&cw->tally.connections.attempted, 1);
    if (cw->lives.places != NULL)
        client_life_begin(c);
    inflight_list_init(&c->queries);
    c->proven = c->opens_slowly = c->timed_out = c->awaits_room = false;
    c->state = CLIENT_CONN_CONNECTING;
    c->connect_start_ns = clock_now_ns();
    fd = connect_from_next_tuple(c, &failed);
    if (fd < 0) {
        event_assign(&c->event, cw->worker.base, -1, 0, on_connected, c);
        client_conn_close(c, failed, errno);
    } else if (sock_is_connected(fd)) {
        on_established(c, fd, 0);
    } else if (watch(c, fd, EV_WRITE, on_connected, cw->connect.timeout) != 0) {
        client_conn_close(c, (struct outcome){PHASE_CONNECT, REASON_MEMORY}, ENOMEM);
    }
}

static void on_connected(evutil_socket_t fd, short what, void *arg)
{
    struct client_conn *c = arg;
    struct client_worker *cw = c->worker;
    int error;

    if (what & EV_TIMEOUT) {
        client_conn_close(c, (struct outcome){PHASE_CONNECT, REASON_TIMEOUT}, ETIMEDOUT);
        return;
    }
    error = sock_error(fd);
    if (error == 0)
        on_established(c, fd, sock_tcp(fd).retransmits);
    else
        client_conn_close(c, (struct outcome){PHASE_CONNECT, outcome_reason_of_errno(error)},
                          error);
    client_send_all(cw);
}

void client_conn_is_half_open(struct client_conn *c)
{
    if (c->worker->config->reconnect) {
        client_conn_close(c, (struct outcome){PHASE_RECEIVE, REASON_HALF_OPEN}, 0);
        return;
    }
    c->state = CLIENT_CONN_HALF_OPEN;
    tally_add(&c->worker->n_half_open, 1);
    client_connect_settled(c->worker, c);
}

/* --- sending --- */

/* By doubling: each byte is copied twice at the most. */
static struct client_backlog *enlarge(struct client_backlog *old, size_t n_more)
{
    const size_t n_bytes = old != NULL ? old->n_bytes : 0, needed = n_bytes + n_more;
    const size_t capacity = old != NULL && needed < 2 * old->capacity ? 2 * old->capacity : needed;
    struct client_backlog *b;

    if (old != NULL && needed <= old->capacity)
        return old;
    b = realloc(old, sizeof *b + capacity);
    if (b == NULL)
        return NULL;
    if (old == NULL)
        b->n_bytes = b->n_sent = 0;
    b->capacity = capacity;
    return b;
}

static int watch_writable(struct client_conn *c, bool writable)
{
    int fd = event_get_fd(&c->event);

    event_del(&c->event);
    c->awaits_room = writable;
    return watch(c, fd, (short)(EV_READ | EV_PERSIST | (writable ? EV_WRITE : 0)), on_ready, NULL);
}

int client_conn_keep(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    if (n_bytes > 0) {
        struct client_backlog *b = enlarge(c->backlog, n_bytes);

        if (b == NULL)
            return ENOMEM;
        memcpy(b->data + b->n_bytes, data, n_bytes);
        b->n_bytes += n_bytes;
        c->backlog = b;
    }
    return c->awaits_room || watch_writable(c, true) == 0 ? 0 : ENOMEM;
}

void client_conn_count_sent(struct client_conn *c, uint64_t n_bytes)
{
    struct client_record *record = client_worker_record(c);

    tally_add(&c->worker->tally.bytes_sent, n_bytes);
    if (record != NULL)
        record->bytes_sent += n_bytes;
}

/* What the socket takes now; -1 with errno when it is broken. */
static ssize_t send_now(struct client_conn *c, int fd, const uint8_t *data, size_t n_bytes)
{
    ssize_t n = send(fd, data, n_bytes, MSG_NOSIGNAL);

    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR)
            return -1;
        n = 0;
    }
    client_conn_count_sent(c, (uint64_t)n);
    return n;
}

int client_conn_transmit(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    ssize_t n = 0;

    if (c->backlog == NULL)
        n = send_now(c, event_get_fd(&c->event), data, n_bytes);
    if (n < 0)
        return errno;
    return (size_t)n < n_bytes ? client_conn_keep(c, data + n, n_bytes - (size_t)n) : 0;
}

ssize_t client_conn_write(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    if (c->worker->tls == NULL)
        return send_now(c, event_get_fd(&c->event), data, n_bytes);
    errno = client_tls_send(c, data, n_bytes);
    return errno == 0 ? (ssize_t)n_bytes : -1;
}

int client_conn_send(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    return c->worker->tls != NULL ? client_tls_send(c, data, n_bytes)
                                  : client_conn_transmit(c, data, n_bytes);
}

static void send_backlog(struct client_conn *c, int fd)
{
    struct client_backlog *b = c->backlog;
    ssize_t n = send_now(c, fd, b->data + b->n_sent, b->n_bytes - b->n_sent);

    if (n < 0) {
        client_conn_broken(c, errno);
        return;
    }
    b->n_sent += (size_t)n;
    if (b->n_sent < b->n_bytes)
        return;
    free(b);
    c->backlog = NULL;
}

/* The socket has room: first for what is kept, then for the queries that wait. */
static void use_room(struct client_conn *c, int fd)
{
    if (c->backlog != NULL)
        send_backlog(c, fd);
    if (c->state != CLIENT_CONN_ENDED && c->backlog == NULL)
        client_send_waiting(c);
    if (c->state != CLIENT_CONN_ENDED && c->backlog == NULL &&
        c->queries.waiting_head == INFLIGHT_NONE && watch_writable(c, false) != 0)
        client_conn_close(c, (struct outcome){PHASE_SEND, REASON_MEMORY}, ENOMEM);
}

/* --- receiving --- */

void client_conn_take_answers(struct client_conn *c, const uint8_t *data, size_t n_bytes,
                              uint64_t received_ns)
{
    const struct query *query = &c->worker->config->query;
    struct query_input in = {data, n_bytes};
    enum query_event event;

    if (c->worker->config->listens) {
        client_listen_take(c, data, n_bytes, received_ns);
        return;
    }
    while ((event = query_next(query, &c->stream, &in)) == QUERY_REPLY) {
        client_query_answer(c, received_ns);
        if (c->state == CLIENT_CONN_ENDED)
            return;
    }
    if (event == QUERY_MALFORMED)
        client_conn_close(c, (struct outcome){PHASE_PROTOCOL, REASON_MALFORMED}, 0);
}

/* Of what the socket gave.  `plain`, with TLS: room for n_bytes + TLS_RECORD_BYTES. */
static void take(struct client_conn *c, const uint8_t *data, size_t n_bytes, uint8_t *plain,
                 uint64_t received_ns)
{
    struct client_worker *cw = c->worker;
    struct client_record *record = client_worker_record(c);

    tally_add(&cw->tally.bytes_received, n_bytes);
    if (record != NULL)
        record->bytes_received += n_bytes;
    if (cw->tls != NULL)
        client_tls_receive(c, data, n_bytes, plain, received_ns);
    else
        client_conn_take_answers(c, data, n_bytes, received_ns);
}

static ssize_t receive_stamped(struct client_worker *cw, int fd)
{
    uint64_t epoch_ns;
    ssize_t n = sock_receive_stamped(fd, cw->received, CLIENT_RECEIVE_BYTES, &epoch_ns);

    cw->arrived_ns = epoch_ns != 0 ? clock_monotonic_of_ns(epoch_ns) : 0;
    return n;
}

static enum outcome_phase phase_of(const struct client_conn *c)
{
    return c->state == CLIENT_CONN_SECURING ? PHASE_TLS : PHASE_RECEIVE;
}

/* One receive call.  Returns whether there may be more to read. */
static bool receive(struct client_conn *c, int fd)
{
    struct client_worker *cw = c->worker;
    ssize_t n = cw->config->socket.stamp_received ? receive_stamped(cw, fd)
                                                  : recv(fd, cw->received, CLIENT_RECEIVE_BYTES, 0);

    if (n > 0) {
        take(c, cw->received, (size_t)n, cw->tls != NULL ? cw->tls->plain : NULL, clock_now_ns());
        if (cw->config->quickack && c->state != CLIENT_CONN_ENDED)
            sock_quickack(fd);
        return n == CLIENT_RECEIVE_BYTES && c->state != CLIENT_CONN_ENDED;
    }
    if (n == 0 && cw->config->listens)
        client_listen_closed(c);
    else if (n == 0)
        client_conn_close(c, (struct outcome){phase_of(c), REASON_PEER}, 0);
    else if (errno != EAGAIN && errno != EINTR)
        client_conn_close(c, (struct outcome){phase_of(c), outcome_reason_of_errno(errno)}, errno);
    return false;
}

void client_conn_read(struct client_conn *c, int fd)
{
    for (int i = 0; i < MAX_READS_PER_WAKEUP && receive(c, fd); i++)
        ;
}

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
    struct client_conn *c = arg;
    struct client_worker *cw = c->worker;

    if (what & EV_READ)
        client_conn_read(c, fd);
    if ((what & EV_WRITE) && c->state != CLIENT_CONN_ENDED)
        use_room(c, fd);
    client_load_after_read(cw);
}

static void on_heard(evutil_socket_t fd, short what, void *arg)
{
    if (what & EV_TIMEOUT)
        client_listen_unheard(arg);
    else
        on_ready(fd, what, arg);
}

void client_conn_is_proven(struct client_conn *c)
{
    if (!c->proven) {
        c->proven = true;
        tally_add(&c->worker->tally.connections.proven, 1);
    }
    if (c->state == CLIENT_CONN_PROVING || c->state == CLIENT_CONN_HALF_OPEN)
        become_usable(c);
}

/* --- the way out --- */

/* Of a connection that was never established. */
static void count_syns(struct client_conn *c, int fd)
{
    struct client_record *record = client_worker_record(c);
    const struct sock_tcp tcp = sock_tcp(fd);

    tally_add(&c->worker->tally.connections.syn_retransmits, tcp.retransmits);
    if (record != NULL)
        record->syn_retransmits += tcp.retransmits;
}

/* What TCP had to do for an established connection. */
static void take_leave(struct client_conn *c, int fd, bool was_usable, struct outcome outcome)
{
    struct client_worker *cw = c->worker;
    struct client_record *record = client_worker_record(c);
    const struct sock_tcp tcp = sock_tcp(fd);

    tally_add(&cw->tally.connections.retransmits, tcp.retransmits);
    tally_add(&cw->tally.connections.with_retransmits, tcp.retransmits > 0);
    tally_add(&cw->tally.connections.needless_retransmits,
              tcp.retransmits - needed_retransmits(&tcp));
    if (!was_usable)
        tally_add(&cw->tally.connections.opening_retransmits, needed_retransmits(&tcp));
    if (c->proven && (outcome.reason == REASON_PEER || outcome.reason == REASON_RESET))
        losses_add(&cw->losses, clock_now_ns(), (uint64_t)tcp.idle_ms * 1000000);
    if (tcp.min_rtt_us > 0)
        hist_record(&cw->min_rtts, (uint64_t)tcp.min_rtt_us * 1000);
    if (record != NULL) {
        record->retransmits += tcp.retransmits;
        record->min_rtt_us = tcp.min_rtt_us;
    }
}

/* It was LIVE. */
static void become_unusable(struct client_conn *c)
{
    tally_sub(&c->worker->n_live, 1);
    if (c->worker->lives.places != NULL)
        client_life_unusable(c);
}

void client_conn_unheard(struct client_conn *c)
{
    struct client_worker *cw = c->worker;

    if (!c->timed_out)
        tally_add(&cw->tally.connections.with_timeouts, 1);
    c->timed_out = true;
    if (c->n_unheard == CLIENT_CONN_DEAF)
        return;
    c->n_unheard++;
    if (c->n_unheard == CLIENT_CONN_DEAF)
        tally_add(&cw->n_deaf, 1);
}

void client_conn_heard(struct client_conn *c)
{
    if (c->n_unheard == CLIENT_CONN_DEAF)
        tally_sub(&c->worker->n_deaf, 1);
    if (c->n_unheard > 0)
        c->n_unheard = 0;
}

void client_conn_finish(struct client_conn *c)
{
    c->state = CLIENT_CONN_FINISHING;
    become_unusable(c);
}

void client_conn_broken(struct client_conn *c, int error)
{
    uint8_t received[BROKEN_BYTES], plain[BROKEN_BYTES + TLS_RECORD_BYTES];
    int fd = event_get_fd(&c->event);
    ssize_t n;

    c->worker->arrived_ns = 0;
    while (c->state != CLIENT_CONN_ENDED && (n = recv(fd, received, sizeof received, 0)) > 0)
        take(c, received, (size_t)n, plain, clock_now_ns());
    client_conn_close(c, (struct outcome){PHASE_SEND, outcome_reason_of_errno(error)}, error);
}

void client_conn_complain(const struct client_conn *c, struct outcome outcome, const char *text)
{
    static atomic_flag warned[OUTCOME_N_PHASES][OUTCOME_N_REASONS];

    if (text == NULL || c->worker->config->quiet ||
        atomic_flag_test_and_set(&warned[outcome.phase][outcome.reason]))
        return;
    log_error("connection %u: %s: %s (%s); further ones are only counted", number(c),
              outcome_phase_name(outcome.phase), outcome_reason_name(outcome.reason), text);
}

void client_conn_close(struct client_conn *c, struct outcome outcome, int error)
{
    struct client_worker *cw = c->worker;
    const uint8_t state = c->state;
    struct client_record *record;
    int fd;

    if (state == CLIENT_CONN_ENDED)
        return;
    client_conn_complain(c, outcome, error != 0 ? strerror(error) : NULL);
    c->state = CLIENT_CONN_ENDED;
    if (state == CLIENT_CONN_LIVE)
        become_unusable(c);
    else if (state == CLIENT_CONN_HALF_OPEN)
        tally_sub(&cw->n_half_open, 1);
    client_conn_heard(c); /* it is deaf no more */
    if (state != CLIENT_CONN_NEW) {
        client_query_lost(c, outcome);
        if (cw->config->listens)
            client_listen_left(c);
        fd = event_get_fd(&c->event);
        event_del(&c->event);
        if (cw->tls != NULL)
            client_tls_end(c, fd, outcome.phase == PHASE_RUN);
        if (state == CLIENT_CONN_CONNECTING)
            count_syns(c, fd);
        else
            take_leave(c, fd, state == CLIENT_CONN_LIVE || state == CLIENT_CONN_FINISHING, outcome);
        if (fd >= 0 && cw->config->close == CLIENT_CLOSE_RST)
            sock_reset_on_close(fd);
        if (fd >= 0)
            close(fd);
    }
    free(c->backlog);
    c->backlog = NULL;
    tally_add(&cw->tally.connections.ended[outcome.phase][outcome.reason], 1);
    if ((record = client_worker_record(c)) != NULL) {
        record->ended_phase = (uint8_t)outcome.phase;
        record->ended_reason = (uint8_t)outcome.reason;
        record->proven = c->proven;
    }
    client_connect_settled(cw, c);
    if (cw->lives.places != NULL)
        client_life_end(c, outcome);
}
