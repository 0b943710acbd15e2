/* SPDX-License-Identifier: MIT
 * client_tls: see client/worker/tls.h. */
#include "client/worker/tls.h"

#include "base/clock.h"
#include "client/worker/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

int client_tls_init(struct client_worker *cw)
{
    struct client_tls *tls;

    if (cw->config->tls == NULL)
        return 0;
    tls = calloc(1, sizeof *tls);
    if (tls == NULL)
        return -1;
    cw->tls = tls;
    tls_worker_init(&tls->shared, cw->config->tls);
    tls->conns = calloc(cw->n_conns, sizeof(struct tls *));
    tls->plain = malloc(CLIENT_RECEIVE_BYTES + TLS_RECORD_BYTES);
    return tls->conns != NULL && tls->plain != NULL ? 0 : -1;
}

void client_tls_free(struct client_worker *cw)
{
    struct client_tls *tls = cw->tls;

    if (tls == NULL)
        return;
    tls_worker_free(&tls->shared);
    free(tls->conns);
    free(tls->plain);
    free(tls);
    cw->tls = NULL;
}

static struct tls **slot_of(const struct client_conn *c)
{
    return &c->worker->tls->conns[c - c->worker->conns];
}

static void close_failed(struct client_conn *c)
{
    const struct tls_worker *shared = &c->worker->tls->shared;
    const enum outcome_phase phase = c->state == CLIENT_CONN_SECURING ? PHASE_TLS : PHASE_RECEIVE;
    const struct outcome outcome = {phase, shared->reason};

    client_conn_complain(c, outcome, shared->text);
    client_conn_close(c, outcome, 0);
}

/* --- the handshake --- */

/* The step is little and the socket is empty: what it does not take now it has no memory for.  The
 * last one leaves together with the query that proves the connection: alone it would make a busy
 * server's TCP wait with its acknowledgement, and ours send it again. */
static int send_step(struct client_conn *c, int fd)
{
    struct client_worker *cw = c->worker;
    struct tls_worker *shared = &cw->tls->shared;
    const bool more =
        c->state == CLIENT_CONN_SECURING && cw->config->prove && tls_is_established(*slot_of(c));
    const size_t n_bytes = shared->n_out;
    ssize_t n;

    shared->n_out = 0;
    if (n_bytes == 0)
        return 0;
    n = send(fd, shared->out, n_bytes, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
    if (n < 0)
        return errno == EAGAIN ? ENOBUFS : errno;
    client_conn_count_sent(c, (uint64_t)n);
    return (size_t)n == n_bytes ? 0 : ENOBUFS;
}

static int watch_handshake(struct client_conn *c)
{
    const uint64_t end_ns = c->connect_start_ns + c->worker->config->connect_timeout_ns;
    const uint64_t now_ns = clock_now_ns();
    const struct timeval left = clock_timeval(end_ns > now_ns ? end_ns - now_ns : 0);

    return event_add(&c->event, &left);
}

static void take_step(struct client_conn *c, int fd, enum tls_status status)
{
    const int error = send_step(c, fd);

    if (status == TLS_FAILED)
        close_failed(c);
    else if (status == TLS_CLOSED)
        client_conn_close(c, (struct outcome){PHASE_TLS, REASON_PEER}, 0);
    else if (error != 0)
        client_conn_close(c, (struct outcome){PHASE_TLS, outcome_reason_of_errno(error)}, error);
}

static void note_established(struct client_conn *c)
{
    struct client_worker *cw = c->worker;
    struct client_record *record = client_worker_record(c);
    const struct tls *t = *slot_of(c);
    const uint64_t handshake_ns = clock_now_ns() - c->connect_start_ns;

    hist_record(&cw->handshake_times, handshake_ns);
    client_conn_opening_took(c, handshake_ns);
    tally_add(&cw->tally.connections.secured, 1);
    tally_add(&cw->tally.connections.resumed, tls_is_resumed(t));
    if (record != NULL) {
        record->handshake_ns = handshake_ns;
        record->resumed = tls_is_resumed(t);
    }
    if (cw->tls->version == NULL) {
        cw->tls->version = tls_version(t);
        cw->tls->cipher = tls_cipher(t);
    }
}

static void on_handshake(evutil_socket_t fd, short what, void *arg)
{
    struct client_conn *c = arg;
    struct client_worker *cw = c->worker;

    if (what & EV_TIMEOUT) {
        client_conn_close(c, (struct outcome){PHASE_TLS, REASON_TIMEOUT}, ETIMEDOUT);
        return;
    }
    client_conn_read(c, fd);
    if (c->state == CLIENT_CONN_SECURING && watch_handshake(c) != 0)
        client_conn_close(c, (struct outcome){PHASE_TLS, REASON_MEMORY}, ENOMEM);
    client_load_after_read(cw);
}

void client_tls_begin(struct client_conn *c, int fd)
{
    struct tls **slot = slot_of(c);

    c->state = CLIENT_CONN_SECURING;
    c->connect_start_ns = clock_now_ns();
    event_assign(&c->event, c->worker->worker.base, fd, EV_READ | EV_PERSIST, on_handshake, c);
    *slot = tls_new(&c->worker->tls->shared);
    if (*slot == NULL || watch_handshake(c) != 0)
        client_conn_close(c, (struct outcome){PHASE_TLS, REASON_MEMORY}, ENOMEM);
    else
        take_step(c, fd, tls_start(*slot));
}

/* --- afterwards --- */

/* What TLS itself has to say, as new keys or an alert.  Returns 0 or an errno. */
static int send_rest(struct client_conn *c)
{
    struct tls_worker *shared = &c->worker->tls->shared;
    const size_t n_bytes = shared->n_out;

    shared->n_out = 0;
    return n_bytes > 0 ? client_conn_transmit(c, shared->out, n_bytes) : 0;
}

void client_tls_receive(struct client_conn *c, const uint8_t *data, size_t n, uint8_t *plain,
                        uint64_t received_ns)
{
    struct tls *t = *slot_of(c);
    size_t n_plain;
    const enum tls_status status = tls_receive(t, data, n, plain, &n_plain);
    int error = 0;

    if (c->state == CLIENT_CONN_SECURING) {
        take_step(c, event_get_fd(&c->event), status);
        if (c->state == CLIENT_CONN_SECURING && tls_is_established(t)) {
            note_established(c);
            client_conn_secured(c);
        }
    } else {
        error = send_rest(c);
    }
    if (n_plain > 0 && c->state != CLIENT_CONN_ENDED)
        client_conn_take_answers(c, plain, n_plain, received_ns);
    if (c->state == CLIENT_CONN_ENDED)
        return;
    if (status == TLS_FAILED)
        close_failed(c);
    else if (status == TLS_CLOSED)
        client_conn_close(c, (struct outcome){PHASE_RECEIVE, REASON_PEER}, 0);
    else if (error != 0)
        client_conn_close(c, (struct outcome){PHASE_SEND, outcome_reason_of_errno(error)}, error);
}

int client_tls_send(struct client_conn *c, const uint8_t *data, size_t n_bytes)
{
    struct tls_worker *shared = &c->worker->tls->shared;
    const enum tls_status status = tls_send(*slot_of(c), data, n_bytes);
    const size_t n_sealed = shared->n_out;

    shared->n_out = 0;
    if (status != TLS_OK)
        return shared->reason == REASON_MEMORY ? ENOMEM : EPROTO;
    return client_conn_transmit(c, shared->out, n_sealed);
}

void client_tls_end(struct client_conn *c, int fd, bool say_so)
{
    struct tls **slot = slot_of(c);

    if (*slot == NULL)
        return;
    if (say_so && c->backlog == NULL) {
        tls_end(*slot);
        (void)send_step(c, fd);
    }
    tls_free(*slot);
    *slot = NULL;
}
