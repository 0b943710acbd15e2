/* SPDX-License-Identifier: MIT
 * client_idle: see client/worker/idle.h. */
#include "client/worker/idle.h"

#include "base/clock.h"
#include "base/units.h"
#include "client/worker/conn.h"
#include "net/worker.h"
#include "protocol/dns_keepalive.h"

#include <stdlib.h>

/* Connections closed per event: closing takes several microseconds each, and due queries must not
 * wait for it. */
enum { MOST_PER_EVENT = 64 };

/* The client has to close before the server does (RFC 7828, 3.2.2), whose timer started when it
 * sent the answer: it closes earlier by a tenth of the timeout, at most by this. */
#define MOST_EARLIER_NS (500 * UNITS_NS_PER_MS)

#define ANY UINT32_MAX

static void on_due(evutil_socket_t fd, short what, void *arg);

size_t client_idle_bytes(const struct client_config *config)
{
    return deadlines_slot_bytes() + (config->keepalive ? sizeof(uint32_t) : 0);
}

int client_idle_init(struct client_idle *idle)
{
    const struct client_transport *t = idle->transport;

    evtimer_assign(&idle->close_event, t->base, on_due, idle);
    if (t->config->keepalive &&
        ((idle->allowed = malloc(t->n_conns * sizeof *idle->allowed)) == NULL ||
         timeout_counts_init(&t->figures->timeouts) != 0))
        return -1;
    return deadlines_init(&idle->deadlines, t->n_conns);
}

void client_idle_free(struct client_idle *idle)
{
    if (event_initialized(&idle->close_event))
        event_del(&idle->close_event);
    deadlines_free(&idle->deadlines);
    free(idle->allowed);
}

/* Returns for how long the connection may be idle: UINT64_MAX if forever.  *reason: why. */
static uint64_t limit_ns(const struct client_idle *idle, const struct client_conn *c,
                         enum outcome_reason *reason)
{
    const struct client_class *class = client_conn_class(c);
    const uint64_t own_ns =
        class != NULL ? class->idle_close_ns : idle->transport->config->idle_close_ns;
    const uint32_t allowed = idle->allowed != NULL ? idle->allowed[client_conn_slot(c)] : ANY;
    const uint64_t allowed_ns = allowed * DNS_KEEPALIVE_UNIT_NS;
    const uint64_t earlier_ns =
        allowed_ns / 10 < MOST_EARLIER_NS ? allowed_ns / 10 : MOST_EARLIER_NS;

    if (allowed != ANY && (own_ns == 0 || allowed_ns - earlier_ns < own_ns)) {
        *reason = REASON_KEEPALIVE;
        return allowed_ns - earlier_ns;
    }
    *reason = REASON_IDLE;
    return own_ns > 0 ? own_ns : UINT64_MAX;
}

static void close_idle(struct client_idle *idle, struct client_conn *c)
{
    struct outcome outcome = {PHASE_RUN, REASON_IDLE};

    (void)limit_ns(idle, c, &outcome.reason);
    client_conn_close(c, outcome, 0);
}

/* Sets the timer to the first deadline, if it is not set to that time or earlier. */
static void arm(struct client_idle *idle, uint64_t now_ns)
{
    const uint64_t next_ns = deadlines_next_ns(&idle->deadlines);

    if (next_ns == DEADLINES_NEVER ||
        (event_pending(&idle->close_event, EV_TIMEOUT, NULL) && idle->armed_ns <= next_ns))
        return;
    idle->armed_ns = next_ns;
    worker_add_timer_at(&idle->close_event, next_ns, now_ns);
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
    struct client_idle *idle = arg;
    struct client_transport *t = idle->transport;
    const uint64_t now_ns = clock_now_ns();

    (void)fd;
    (void)what;
    for (int n = 0; n < MOST_PER_EVENT && deadlines_next_ns(&idle->deadlines) <= now_ns; n++)
        close_idle(idle, &t->conns[deadlines_take(&idle->deadlines)]);
    arm(idle, now_ns);
    t->ops->done(t->owner);
}

void client_idle_rest(struct client_idle *idle, struct client_conn *c, uint64_t now_ns)
{
    enum outcome_reason reason;
    uint64_t most_ns;

    if (c->state != CLIENT_CONN_LIVE || c->queries.head != INFLIGHT_NONE)
        return;
    most_ns = limit_ns(idle, c, &reason);
    if (most_ns == UINT64_MAX)
        return;
    deadlines_set(&idle->deadlines, client_conn_slot(c), now_ns + most_ns);
    arm(idle, now_ns);
}

void client_idle_allow(struct client_idle *idle, struct client_conn *c, uint16_t timeout)
{
    idle->allowed[client_conn_slot(c)] = timeout;
    if (timeout > 0 || c->state != CLIENT_CONN_LIVE)
        return;
    client_conn_finish(c);
    client_conn_close_if_finished(c);
}

void client_idle_allow_any(struct client_idle *idle, const struct client_conn *c)
{
    if (idle->allowed != NULL)
        idle->allowed[client_conn_slot(c)] = ANY;
}

void client_idle_leave(struct client_idle *idle, const struct client_conn *c)
{
    deadlines_clear(&idle->deadlines, client_conn_slot(c));
}
