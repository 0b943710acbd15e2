/* SPDX-License-Identifier: MIT
 * client_events: see client/worker/events.h. */
#include "client/worker/events.h"

#include "base/clock.h"
#include "client/worker/conn.h"
#include "client/worker/handshake.h"
#include "client/worker/io.h"
#include "client/worker/setup_times.h"
#include "client/worker/tls.h"
#include "client/worker/udp.h"
#include "net/sock.h"
#include "net/sock_stamp.h"

#include <errno.h>
#include <sys/socket.h>

/* Limit on receive calls per wake-up: a peer that never stops sending must not starve the others.
 */
enum { MAX_READS_PER_WAKEUP = 8 };

/* The last bytes of a broken connection are read into a separate buffer.  The worker's may be in
 * use, because reading from one connection can make another one send. */
enum { BROKEN_BYTES = 4096 };

/* Limit on receive calls for them.  64 MiB is more than a socket usually holds; a socket that only
 * lacked memory to send may keep receiving. */
enum { MOST_BROKEN_READS = 1 << 14 };

static void on_connected(struct polled *s, short what);
static void on_handshake(struct polled *s, short what);
static void on_ready(struct polled *s, short what);
static void on_datagrams(struct polled *s, short what);

/* Once a packet has left, EACCES is an ICMPv6 message from a filter on the path, which ICMP reports
 * as EHOSTUNREACH; this host's own filter returns EPERM. */
static enum outcome_reason reason_of(int error)
{
    return error == EACCES ? REASON_UNREACHABLE : outcome_reason_of_errno(error);
}

static void close_failed(struct client_conn *c, enum outcome_phase phase, int error)
{
    client_conn_close(c, (struct outcome){phase, reason_of(error)}, error);
}

static void done(const struct client_transport *t)
{
    t->ops->done(t->owner);
}

/* --- connecting --- */

/* A PROXY header precedes the first bytes; if there are none yet, it is sent alone: the server may
 * speak first, and a proxy waits for the header.  Returns whether the connection is still open. */
static bool send_header(struct client_conn *c)
{
    const int error = client_io_transmit(c, NULL, 0);

    if (error != 0)
        client_events_broken(c, error);
    return error == 0;
}

/* Bytes can now flow in both directions: enters PROVING. */
static void become_ready(struct client_conn *c, int fd)
{
    struct client_transport *t = c->transport;
    int error;

    c->stream = (struct query_stream){0};
    c->state = CLIENT_CONN_PROVING;
    error = poller_watch(&t->poller, &c->socket, fd, EV_READ,
                         t->udp != NULL ? on_datagrams : on_ready, t->greeting_timeout);
    if (error != 0) {
        close_failed(c, PHASE_RECEIVE, error);
        return;
    }
    t->ops->established(t->owner, c);
    if (c->header_due && (t->config->listens || !client_conn_needs_proof(c)) && !send_header(c))
        return;
    if (!client_conn_needs_proof(c))
        client_conn_become_usable(c);
}

/* --- established --- */

/* Resets the connection: TIME_WAIT would keep a server from binding the port. */
static void refuse_itself(struct client_conn *c, int fd)
{
    sock_reset_on_close(fd);
    c->socket.fd = fd;
    client_conn_close(c, (struct outcome){PHASE_CONNECT, REASON_SELF}, 0);
}

/* Returns the time at which the connection was established. */
static uint64_t record_connect(struct client_conn *c, int fd, uint32_t syn_retransmits)
{
    struct client_figures *f = c->transport->figures;
    struct client_record *record = client_conn_record(c);
    const bool has_handshake = c->transport->udp == NULL;
    const uint64_t now_ns = clock_now_ns();
    const uint64_t connect_ns = has_handshake ? now_ns - c->connect_start_ns : 0;

    if (has_handshake)
        hist_record(&f->connect_times, connect_ns);
    client_setup_times_connected(c, now_ns);
    client_conn_opening_took(c, connect_ns);
    tally_add(&f->tally.connections.connected, 1);
    tally_add(&f->tally.connections.replaced, c->replaces);
    client_conn_count_in_class(c, CLASS_TALLY_OF(connected));
    tally_add(&f->tally.connections.syn_retransmits, syn_retransmits);
    if (record != NULL) {
        record->connect_ns = connect_ns;
        record->established_ns = now_ns;
        record->syn_retransmits += syn_retransmits;
        sock_local_tuple(fd, &record->source);
    }
    if (!c->settled)
        f->last_established_ns = now_ns;
    return now_ns;
}

static void on_established(struct client_conn *c, int fd, uint32_t syn_retransmits)
{
    uint64_t established_ns;

    if (c->transport->config->may_meet_itself && sock_is_its_own_peer(fd)) {
        refuse_itself(c, fd);
        return;
    }
    established_ns = record_connect(c, fd, syn_retransmits);
    if (client_conn_uses_tls(c))
        client_handshake_begin(c, fd, established_ns, on_handshake);
    else
        become_ready(c, fd);
}

/* Over loopback the connect has finished when connect(2) returns, although it reports EINPROGRESS.
 * Asking costs 0.2 us and saves two epoll_ctl(2) calls and a wake-up: connecting is then as fast as
 * a loop of bind, connect and epoll_ctl alone (ratio 1.00; 0.8 without; bench/connect). */
void client_events_open(struct client_conn *c, int fd)
{
    struct client_transport *t = c->transport;
    int error;

    if (sock_is_connected(fd)) {
        on_established(c, fd, 0);
        return;
    }
    error = poller_watch(&t->poller, &c->socket, fd, EV_WRITE, on_connected, t->connect_timeout);
    if (error != 0)
        close_failed(c, PHASE_CONNECT, error);
}

static void on_connected(struct polled *s, short what)
{
    struct client_conn *c = client_conn_of(s);
    const int fd = s->fd, error = sock_error(fd);

    /* after a stall the timeout may be reported first, even if the connect has succeeded meanwhile
     */
    if (error == 0 && (what & EV_TIMEOUT) && !sock_is_connected(fd))
        client_conn_close(c, (struct outcome){PHASE_CONNECT, REASON_TIMEOUT}, ETIMEDOUT);
    else if (error == 0)
        on_established(c, fd, sock_tcp(fd).retransmits);
    else
        close_failed(c, PHASE_CONNECT, error);
    done(c->transport);
}

/* --- receiving --- */

/* Processes received bytes with TLS.  `plain`: room for n + TLS_RECORD_BYTES. */
static void process_encrypted(struct client_conn *c, const uint8_t *data, size_t n, uint8_t *plain,
                              uint64_t received_ns)
{
    struct client_transport *t = c->transport;
    size_t n_plain;
    const enum tls_status status = client_tls_decrypt(c, data, n, plain, &n_plain);
    int error = 0;

    if (c->state == CLIENT_CONN_SECURING) {
        if (client_handshake_step(c, status))
            become_ready(c, c->socket.fd);
    } else {
        error = client_tls_send_own(c);
    }
    if (n_plain > 0 && c->state != CLIENT_CONN_ENDED)
        t->ops->data(t->owner, c, plain, n_plain, received_ns);
    if (c->state == CLIENT_CONN_ENDED)
        return;
    if (status == TLS_FAILED)
        client_handshake_failed(c);
    else if (status == TLS_CLOSED)
        client_conn_close(c, (struct outcome){PHASE_RECEIVE, REASON_PEER}, 0);
    else if (error != 0)
        close_failed(c, PHASE_SEND, error);
}

/* Processes received bytes.  `plain`, with TLS: room for n_bytes + TLS_RECORD_BYTES. */
static void process_received(struct client_conn *c, const uint8_t *data, size_t n_bytes,
                             uint8_t *plain, uint64_t received_ns)
{
    struct client_transport *t = c->transport;

    client_io_count_received(c, n_bytes);
    if (client_conn_uses_tls(c))
        process_encrypted(c, data, n_bytes, plain, received_ns);
    else
        t->ops->data(t->owner, c, data, n_bytes, received_ns);
}

/* The peer closed its half. */
static void process_end(struct client_conn *c)
{
    const struct client_transport *t = c->transport;

    if (c->state == CLIENT_CONN_SECURING)
        client_conn_close(c, (struct outcome){PHASE_TLS, REASON_PEER}, 0);
    else
        t->ops->data(t->owner, c, t->received, 0, 0);
}

/* Like recv(2); t->arrived_ns: when the data arrived. */
static ssize_t receive_into(struct client_transport *t, int fd, uint8_t *data, size_t n_bytes)
{
    uint64_t epoch_ns;
    ssize_t n;

    if (!t->config->socket.stamp_received)
        return recv(fd, data, n_bytes, 0);
    n = sock_receive_stamped(fd, data, n_bytes, 0, &epoch_ns);
    t->arrived_ns = epoch_ns != 0 ? clock_monotonic_of_ns(epoch_ns) : 0;
    return n;
}

/* Makes one receive call.  Returns whether there may be more to read: after a full buffer or, where
 * readability is reported only once (client_io_tell_again()), after any data. */
static bool receive(struct client_conn *c, int fd)
{
    struct client_transport *t = c->transport;
    const ssize_t n = receive_into(t, fd, t->received, CLIENT_RECEIVE_BYTES);

    if (n > 0) {
        process_received(c, t->received, (size_t)n, t->tls != NULL ? t->tls->plain : NULL,
                         clock_now_ns());
        if (t->config->quickack && c->state != CLIENT_CONN_ENDED)
            sock_quickack(fd);
        return (n == CLIENT_RECEIVE_BYTES || c->awaits_room) && c->state != CLIENT_CONN_ENDED;
    }
    if (n == 0) {
        process_end(c);
    } else if (errno != EAGAIN && errno != EINTR) {
        const enum outcome_phase phase =
            c->state == CLIENT_CONN_SECURING ? PHASE_TLS : PHASE_RECEIVE;

        close_failed(c, phase, errno);
    }
    return false;
}

static void read_all(struct client_conn *c, int fd)
{
    int n = 0, error = 0;

    while (n < MAX_READS_PER_WAKEUP && receive(c, fd))
        n++;
    if (n == MAX_READS_PER_WAKEUP && c->awaits_room)
        error = client_io_tell_again(c);
    if (error != 0)
        close_failed(c, PHASE_RECEIVE, error);
}

static void on_handshake(struct polled *s, short what)
{
    struct client_conn *c = client_conn_of(s);

    read_all(c, s->fd);
    if (c->state == CLIENT_CONN_SECURING)
        client_handshake_wait(c, what);
    done(c->transport);
}

static void receive_rest(struct client_conn *c, int fd)
{
    struct client_transport *t = c->transport;
    const uint64_t outer_ns = t->arrived_ns; /* of the connection being read */
    uint8_t received[BROKEN_BYTES], plain[BROKEN_BYTES + TLS_RECORD_BYTES];
    ssize_t n;

    for (int i = 0; i < MOST_BROKEN_READS && c->state != CLIENT_CONN_ENDED &&
                    (n = receive_into(t, fd, received, sizeof received)) > 0;
         i++)
        process_received(c, received, (size_t)n, plain, clock_now_ns());
    t->arrived_ns = outer_ns;
}

/* The socket's next call, whichever it is, reports an ICMP message about an earlier datagram. */
static void datagrams_broken(struct client_conn *c, enum outcome_phase phase, int error)
{
    client_udp_receive_rest(c, c->socket.fd);
    close_failed(c, error == ECONNREFUSED ? PHASE_RECEIVE : phase, error);
}

void client_events_broken(struct client_conn *c, int error)
{
    if (c->transport->udp != NULL) {
        datagrams_broken(c, PHASE_SEND, error);
        return;
    }
    receive_rest(c, c->socket.fd);
    close_failed(c, PHASE_SEND, error);
}

/* --- room --- */

/* Sends the kept bytes first, then the waiting queries. */
static void use_room(struct client_conn *c)
{
    const struct client_transport *t = c->transport;
    int error = c->backlog != NULL ? client_io_send_kept(c) : 0;

    if (error != 0) {
        client_events_broken(c, error);
        return;
    }
    if (c->backlog == NULL && !t->ops->room(t->owner, c) && c->state != CLIENT_CONN_ENDED &&
        c->backlog == NULL)
        error = client_io_stop_waiting(c);
    if (error != 0)
        close_failed(c, PHASE_SEND, error);
}

/* The greeting did not arrive in time. */
static void on_not_greeted(struct client_conn *c)
{
    if (c->state == CLIENT_CONN_PROVING)
        client_conn_mark_half_open(c);
}

static void on_ready(struct polled *s, short what)
{
    struct client_conn *c = client_conn_of(s);

    if (what & (EV_READ | EV_TIMEOUT))
        read_all(c, s->fd);
    if ((what & EV_TIMEOUT) && c->state != CLIENT_CONN_ENDED)
        on_not_greeted(c);
    if ((what & EV_WRITE) && c->state != CLIENT_CONN_ENDED)
        use_room(c);
    done(c->transport);
}

static void on_datagrams(struct polled *s, short what)
{
    struct client_conn *c = client_conn_of(s);
    const int error = what & EV_READ ? client_udp_receive(c, s->fd) : 0;

    if (error != 0)
        datagrams_broken(c, PHASE_RECEIVE, error);
    else if ((what & EV_WRITE) && c->state != CLIENT_CONN_ENDED)
        use_room(c);
    done(c->transport);
}
