/* SPDX-License-Identifier: MIT
 * server_io: see server/io.h. */
#include "server/io.h"

#include "net/sock.h"
#include "protocol/query_ping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void on_readable(struct polled *s, short what);
static void on_readable_subscriber(struct polled *s, short what);
static void on_writable(struct polled *s, short what);

/* Returns 0 or an errno. */
static int watch(struct server_conn *c, int fd, short what, poller_callback *callback)
{
    return poller_watch(&c->conns->poller, &c->socket, fd, what, callback, c->conns->idle_timeout);
}

/* The connection is not idle, or may not have been.  Returns 0 or ENOMEM. */
static int restart_idle_timeout(struct server_conn *c)
{
    return poller_set_timeout(&c->conns->poller, &c->socket, c->conns->idle_timeout);
}

int server_io_watch(struct server_conn *c, int fd)
{
    return watch(c, fd, EV_READ, c->conns->push_ops != NULL ? on_readable_subscriber : on_readable);
}

static void close_failed(struct server_conn *c, enum outcome_phase phase, int error)
{
    server_conn_close(c, (struct outcome){phase, outcome_reason_of_errno(error)});
}

/* Keeps the bytes that the socket did not accept and stops reading until they are sent. */
static void keep_unsent(struct server_conn *c, int fd, const uint8_t *data, size_t n_bytes)
{
    int error;

    c->held = malloc(sizeof *c->held + n_bytes);
    if (c->held == NULL) {
        close_failed(c, PHASE_SEND, ENOMEM);
        return;
    }
    c->held->n_bytes = (uint32_t)n_bytes;
    c->held->n_sent = 0;
    memcpy(c->held->data, data, n_bytes);
    /* edge-triggered: where TCP has no memory for it (net.ipv4.tcp_mem), a socket that refuses data
     * is still called writable; with EV_ET the next call comes once an acknowledgement has freed
     * some */
    error = watch(c, fd, EV_WRITE | EV_ET, on_writable);
    if (error != 0)
        close_failed(c, PHASE_SEND, error);
    else
        tally_add(&c->conns->tally.back_pressure_pauses, 1);
}

/* Returns the number of bytes accepted, or -1 if the connection has ended. */
static ssize_t send_now(struct server_conn *c, int fd, const uint8_t *data, size_t n_bytes)
{
    ssize_t n = send(fd, data, n_bytes, MSG_NOSIGNAL);

    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR) {
            close_failed(c, PHASE_SEND, errno);
            return -1;
        }
        n = 0;
    }
    tally_add(&c->conns->tally.bytes_sent, (uint64_t)n);
    return n;
}

static void transmit(struct server_conn *c, int fd, const uint8_t *data, size_t n_bytes)
{
    ssize_t n = send_now(c, fd, data, n_bytes);

    if (n >= 0 && (size_t)n < n_bytes)
        keep_unsent(c, fd, data + n, n_bytes - (size_t)n);
}

uint32_t server_io_send(struct server_conn *c, const uint8_t *messages, uint32_t n_messages,
                        uint32_t message_bytes)
{
    const int fd = c->socket.fd;
    uint32_t n_taken, begun_bytes;
    ssize_t n;

    if (c->held != NULL)
        return 0;
    n = send_now(c, fd, messages, (size_t)n_messages * message_bytes);
    if (n < 0)
        return 0;
    n_taken = (uint32_t)n / message_bytes;
    begun_bytes = (uint32_t)n % message_bytes;
    if (begun_bytes > 0) {
        keep_unsent(c, fd, messages + n, message_bytes - begun_bytes);
        n_taken++;
    }
    return n_taken;
}

void server_io_send_all(struct server_conn *c, const uint8_t *data, size_t n_bytes)
{
    transmit(c, c->socket.fd, data, n_bytes);
}

/* Sends the output of TLS. */
static void transmit_sealed(struct server_conn *c, int fd)
{
    struct tls_worker *tls = &c->conns->tls;
    const size_t n_bytes = tls->n_out;

    tls->n_out = 0;
    if (n_bytes > 0)
        transmit(c, fd, tls->out, n_bytes);
}

static void answer(struct server_conn *c, int fd, const uint8_t *data, size_t n_bytes)
{
    struct tls_worker *tls = &c->conns->tls;

    if (c->tls == NULL) {
        transmit(c, fd, data, n_bytes);
    } else if (tls_send(c->tls, data, n_bytes) == TLS_OK) {
        transmit_sealed(c, fd);
    } else {
        tls->n_out = 0;
        server_conn_close(c, (struct outcome){PHASE_SEND, tls->reason});
    }
}

static void serve(struct server_conn *c, int fd, const uint8_t *data, size_t n_bytes)
{
    struct server_conns *conns = c->conns;

    if (conns->config->protocol == SERVER_PING) {
        size_t n_replies = query_ping_answer(&c->ping_matched, data, n_bytes, conns->replies);

        if (n_replies > 0)
            answer(c, fd, conns->replies, n_replies);
    } else {
        answer(c, fd, data, n_bytes);
    }
}

static bool is_secured(const struct server_conn *c)
{
    return c->tls != NULL && tls_is_established(c->tls);
}

/* During the TLS handshake, the end of a connection is an outcome of that phase. */
static enum outcome_phase phase_of(const struct server_conn *c)
{
    return c->conns->config->tls == NULL || is_secured(c) ? PHASE_RECEIVE : PHASE_TLS;
}

/* Returns the number of bytes in the worker's buffer; 0 if there are none or the connection has
 * ended. */
static size_t receive(struct server_conn *c, int fd)
{
    struct server_conns *conns = c->conns;
    ssize_t n = recv(fd, conns->buffer, SERVER_BUFFER_BYTES, 0);

    if (n == 0) {
        server_conn_close(c, (struct outcome){phase_of(c), REASON_PEER});
        return 0;
    }
    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR)
            close_failed(c, phase_of(c), errno);
        return 0;
    }
    tally_add(&conns->tally.bytes_received, (uint64_t)n);
    return (size_t)n;
}

/* As long as a peer does not read its data, the kernel keeps the socket after close(2), for
 * minutes, and no limit counts it; a reset frees it. */
static void close_idle(struct server_conn *c, enum outcome_phase phase)
{
    const int fd = c->socket.fd;

    if (c->held != NULL || sock_has_unacknowledged(fd))
        sock_reset_on_close(fd);
    server_conn_end(c, (struct outcome){phase, REASON_TIMEOUT});
}

static void subscribe(struct server_conn *c)
{
    if (c->subscriber == SERVER_NO_SUBSCRIBER && c->conns->push_ops->subscribe(c) != 0)
        close_failed(c, PHASE_RECEIVE, ENOMEM);
}

static void on_readable_subscriber(struct polled *s, short what)
{
    struct server_conn *c = server_conn_of(s);
    const int error = restart_idle_timeout(c);

    (void)what;
    if (error != 0)
        close_failed(c, PHASE_RECEIVE, error);
    else if (receive(c, s->fd) > 0)
        subscribe(c);
}

/* The peer has closed its half and has got all its answers: closes ours, unless the peer is gone.
 * If the socket has no room for close_notify, on_writable() calls this again; tls_end() then
 * appends nothing. */
static void close_politely(struct server_conn *c, int fd)
{
    uint8_t byte;

    if (recv(fd, &byte, 1, MSG_PEEK) != 0) {
        tls_end(c->tls);
        transmit_sealed(c, fd);
    }
    if (c->open && c->held == NULL)
        server_conn_close(c, (struct outcome){phase_of(c), REASON_PEER});
}

static void serve_sealed(struct server_conn *c, int fd, const uint8_t *data, size_t n_bytes)
{
    struct server_conns *conns = c->conns;
    const bool was_secured = is_secured(c);
    enum outcome_phase phase;
    enum tls_status status;
    size_t n_plain;

    if (c->tls == NULL && (c->tls = tls_new(&conns->tls)) == NULL) {
        close_failed(c, PHASE_TLS, ENOMEM);
        return;
    }
    status = tls_receive(c->tls, data, n_bytes, conns->plain, &n_plain);
    /* after a failure OpenSSL forgets that the handshake was complete */
    phase = was_secured ? PHASE_RECEIVE : phase_of(c);
    if (!was_secured && is_secured(c)) {
        tally_add(&conns->tally.secured, 1);
        tally_add(&conns->tally.resumed, tls_is_resumed(c->tls));
    }
    if (n_plain > 0 && status != TLS_FAILED)
        serve(c, fd, conns->plain, n_plain);
    if (c->open && c->held == NULL)
        transmit_sealed(c, fd);
    if (c->open && status == TLS_FAILED)
        server_conn_close(c, (struct outcome){phase, conns->tls.reason});
    else if (c->open && status == TLS_CLOSED && c->held == NULL)
        close_politely(c, fd);
}

static void on_readable(struct polled *s, short what)
{
    struct server_conn *c = server_conn_of(s);
    struct server_conns *conns = c->conns;
    const int fd = s->fd, error = restart_idle_timeout(c);
    size_t n;

    if (error != 0) {
        close_failed(c, phase_of(c), error);
        return;
    }
    n = receive(c, fd);
    /* after a stall only the timeout is reported, even if data have arrived meanwhile */
    if (n == 0 && c->open && (what & EV_READ) == 0)
        close_idle(c, phase_of(c));
    if (n == 0)
        return;
    if (conns->config->tls != NULL)
        serve_sealed(c, fd, conns->buffer, n);
    else
        serve(c, fd, conns->buffer, n);
}

void server_io_take(struct server_conn *c, const uint8_t *data, size_t n_bytes)
{
    const int fd = c->socket.fd;

    if (c->conns->push_ops != NULL)
        subscribe(c);
    else if (c->conns->config->tls != NULL)
        serve_sealed(c, fd, data, n_bytes);
    else
        serve(c, fd, data, n_bytes);
}

static void on_writable(struct polled *s, short what)
{
    struct server_conn *c = server_conn_of(s);
    struct server_held *held = c->held;
    const int fd = s->fd;
    int error = restart_idle_timeout(c);
    ssize_t n;

    if (error != 0) {
        close_failed(c, PHASE_SEND, error);
        return;
    }
    n = send(fd, held->data + held->n_sent, held->n_bytes - held->n_sent, MSG_NOSIGNAL);
    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR)
            close_failed(c, PHASE_SEND, errno);
        else if ((what & EV_WRITE) == 0)
            close_idle(c, PHASE_SEND);
        return;
    }
    tally_add(&c->conns->tally.bytes_sent, (uint64_t)n);
    held->n_sent += (uint32_t)n;
    if (held->n_sent < held->n_bytes)
        return;
    free(held);
    c->held = NULL;
    if (c->tls != NULL && tls_is_ended_by_peer(c->tls)) {
        close_politely(c, fd);
        return;
    }
    error = server_io_watch(c, fd);
    if (error != 0)
        close_failed(c, PHASE_RECEIVE, error);
}
