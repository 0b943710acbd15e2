/* SPDX-License-Identifier: MIT
 * client_handshake: see client/worker/handshake.h. */
#include "client/worker/handshake.h"

#include "base/clock.h"
#include "client/worker/conn.h"
#include "client/worker/setup_times.h"
#include "client/worker/tls.h"

#include <errno.h>

static void close_for(struct client_conn *c, int error)
{
    client_conn_close(c, (struct outcome){PHASE_TLS, outcome_reason_of_errno(error)}, error);
}

void client_handshake_failed(struct client_conn *c)
{
    const struct tls_worker *w = client_tls_worker(c);
    const enum outcome_phase phase = c->state == CLIENT_CONN_SECURING ? PHASE_TLS : PHASE_RECEIVE;
    const struct outcome outcome = {phase, w->reason};

    client_conn_log(c, outcome, w->text);
    client_conn_close(c, outcome, 0);
}

/* Returns 0 or an errno. */
static int limit_time(struct client_conn *c)
{
    const uint64_t end_ns = c->connect_start_ns + c->transport->config->connect_timeout_ns;
    const uint64_t now_ns = clock_now_ns();
    const struct timeval left = clock_timeval(end_ns > now_ns ? end_ns - now_ns : 0);

    return poller_set_own_timeout(&c->transport->poller, &c->socket, &left);
}

static void take_step(struct client_conn *c, enum tls_status status)
{
    const int error = client_tls_send_step(c);

    if (status == TLS_FAILED)
        client_handshake_failed(c);
    else if (status == TLS_CLOSED)
        client_conn_close(c, (struct outcome){PHASE_TLS, REASON_PEER}, 0);
    else if (error != 0)
        close_for(c, error);
}

void client_handshake_begin(struct client_conn *c, int fd, uint64_t established_ns,
                            poller_callback *callback)
{
    int error;

    c->state = CLIENT_CONN_SECURING;
    c->connect_start_ns = established_ns;
    error = poller_watch(&c->transport->poller, &c->socket, fd, EV_READ, callback, NULL);
    if (error == 0)
        error = client_tls_begin(c);
    if (error == 0)
        error = limit_time(c);
    if (error != 0)
        close_for(c, error);
    else
        take_step(c, client_tls_start(c));
}

static void record(struct client_conn *c)
{
    const uint64_t now_ns = clock_now_ns(), handshake_ns = now_ns - c->connect_start_ns;

    client_tls_record_handshake(c, handshake_ns);
    client_setup_times_secured(c, now_ns);
    client_conn_opening_took(c, handshake_ns);
}

bool client_handshake_step(struct client_conn *c, enum tls_status status)
{
    take_step(c, status);
    if (c->state != CLIENT_CONN_SECURING || !client_tls_is_established(c))
        return false;
    record(c);
    return true;
}

void client_handshake_wait(struct client_conn *c, short what)
{
    const int error = what & EV_TIMEOUT ? ETIMEDOUT : limit_time(c);

    if (error != 0)
        close_for(c, error);
}
