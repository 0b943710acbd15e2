/* SPDX-License-Identifier: MIT
 * client_subscribe: see client/worker/subscribe.h. */
#include "client/worker/subscribe.h"

#include "base/clock.h"
#include "base/units.h"
#include "client/worker/conn.h"
#include "client/worker/events.h"
#include "measure/rows.h"
#include "net/thread.h"
#include "net/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Subscriptions per turn: enough to amortize it, few enough not to delay messages. */
enum { SUBSCRIBE_BATCH = 64 };

/* Interval at which CLOCK_REALTIME is read again, as the sender does: it may be set during the run.
 */
#define OFFSET_AGE_NS UNITS_NS_PER_S

static void on_subscribe(evutil_socket_t fd, short what, void *arg);
static void on_next(evutil_socket_t fd, short what, void *arg);

static struct client_subscriber *subscriber(const struct client_subscribe *s,
                                            const struct client_conn *c)
{
    return &s->all[client_conn_slot(c)];
}

/* A message that wakes up its receiver must not preempt the sender.  If both share a fully loaded
 * machine, that costs a context switch every few messages: 36,000/s instead of 600/s at 150,000
 * messages/s on 2 CPUs, and a third of all CPU time. */
int client_subscribe_init(struct client_subscribe *s)
{
    struct client_transport *t = s->transport;
    const struct timeval timeout = clock_timeval(t->config->timeout_ns);

    thread_run_in_batches();
    s->all = calloc(t->n_conns, sizeof *s->all);
    s->pattern = malloc(sizeof *s->pattern);
    if (s->all == NULL || s->pattern == NULL)
        return -1;
    push_pattern_fill(s->pattern);
    s->clock_id = clock_identity();
    s->realtime_offset_ns = clock_realtime_offset_ns();
    s->offset_read_ns = clock_now_ns();
    s->joined = CLIENT_CONN_NONE;
    evtimer_assign(&s->subscribe_event, t->base, on_subscribe, s);
    evtimer_assign(&s->next_event, t->base, on_next, s);
    evtimer_assign(&s->read_event, t->base, on_next, s);
    event_priority_set(&s->read_event, WORKER_PRIORITY_IDLE);
    if (!t->config->prove)
        return 0;
    t->greeting_timeout = event_base_init_common_timeout(t->base, &timeout);
    return t->greeting_timeout != NULL ? 0 : -1;
}

void client_subscribe_free(struct client_subscribe *s)
{
    for (uint32_t i = 0; s->all != NULL && i < s->transport->n_conns; i++)
        free(s->all[i].partial);
    free(s->all);
    free(s->pattern);
}

void client_subscribe_begin(struct client_subscribe *s, struct client_conn *c)
{
    struct client_subscriber *sub = subscriber(s, c);

    free(sub->partial);
    *sub =
        (struct client_subscriber){.has_joined = sub->has_joined, .next_joined = sub->next_joined};
}

/* --- subscribing --- */

static void subscribe(struct client_conn *c)
{
    static const uint8_t word[] = {'+'};
    int error;

    if (c->state != CLIENT_CONN_LIVE)
        return;
    error = client_conn_send(c, word, sizeof word);
    if (error != 0)
        client_events_broken(c, error);
}

void client_subscribe_usable(struct client_subscribe *s, struct client_conn *c)
{
    struct client_subscriber *sub = subscriber(s, c);

    if (!s->span->running || sub->has_joined)
        return;
    sub->has_joined = true;
    sub->next_joined = s->joined;
    s->joined = client_conn_slot(c);
    event_active(&s->subscribe_event, EV_TIMEOUT, 0);
}

static struct client_conn *take_joined(struct client_subscribe *s)
{
    const uint32_t i = s->joined;

    s->joined = s->all[i].next_joined;
    s->all[i].has_joined = false;
    return &s->transport->conns[i];
}

static void on_subscribe(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval at_once;
    struct client_subscribe *s = arg;
    const struct client_transport *t = s->transport;
    uint32_t *next = &s->next_to_subscribe;
    int n = 0;

    (void)fd;
    (void)what;
    if (!s->span->running)
        return;
    for (; n < SUBSCRIBE_BATCH && s->joined != CLIENT_CONN_NONE; n++)
        subscribe(take_joined(s));
    for (; n < SUBSCRIBE_BATCH && *next < t->n_conns; n++)
        subscribe(&t->conns[(*next)++]);
    if (*next < t->n_conns || s->joined != CLIENT_CONN_NONE)
        worker_add_timer(&s->subscribe_event, &at_once);
}

void client_subscribe_start(struct client_subscribe *s)
{
    on_subscribe(-1, 0, s);
}

/* --- messages --- */

static void record(struct hist *h, int64_t span_ns)
{
    hist_record(h, span_ns > 0 ? (uint64_t)span_ns : 0);
}

static void push_row(const struct client_conn *c, const struct push_message *m, uint64_t lag_ns,
                     uint64_t span_ns, uint64_t received_ns)
{
    const struct client_transport *t = c->transport;
    const struct rows_record row = {.time_ns = received_ns,
                                    .lag_ns = lag_ns,
                                    .span_ns = span_ns,
                                    .connection = t->first_conn + client_conn_slot(c),
                                    .id = (uint16_t)m->sequence,
                                    .type = 'A'};

    rows_push(t->config->rows, t->worker, &row);
}

/* Times are the sender's, translated to this host's clock. */
static void measure(const struct client_conn *c, const struct push_message *m, uint64_t shift_ns,
                    uint64_t received_ns)
{
    const struct client_transport *t = c->transport;
    struct client_figures *f = t->figures;
    struct hist *metrics = f->metrics;
    const uint64_t sent_ns = m->sent_ns + shift_ns;
    const int64_t response_ns = (int64_t)(received_ns - m->intended_ns - shift_ns);
    const bool is_dated = t->arrived_ns != 0 && t->arrived_ns <= received_ns;
    const uint64_t delay_ns = is_dated ? received_ns - t->arrived_ns : 0;

    record(&metrics[CLIENT_RESPONSE], response_ns);
    record(&metrics[CLIENT_SERVICE], (int64_t)(received_ns - sent_ns));
    record(&metrics[CLIENT_SEND_LAG], (int64_t)(m->sent_ns - m->intended_ns));
    if (is_dated)
        record(&metrics[CLIENT_NET], (int64_t)(t->arrived_ns - sent_ns));
    record(&metrics[CLIENT_OWN], (int64_t)(m->sent_ns - m->intended_ns + delay_ns));
    if (response_ns < f->least_push_ns)
        f->least_push_ns = response_ns;
    tally_add(&f->tally.push.negative, response_ns < 0);
    if (t->config->rows != NULL)
        push_row(c, m, m->sent_ns - m->intended_ns, received_ns - sent_ns, received_ns);
}

static void read_realtime(struct client_subscribe *s, uint64_t now_ns)
{
    if (now_ns - s->offset_read_ns < OFFSET_AGE_NS)
        return;
    s->realtime_offset_ns = clock_realtime_offset_ns();
    s->offset_read_ns = now_ns;
}

static bool is_our_clock(const struct client_subscribe *s, const struct push_message *m)
{
    return m->clock_id != 0 && m->clock_id == s->clock_id;
}

/* Returns the offset to add to the sender's times; 0 if both share a clock. */
static uint64_t shift_of(const struct client_subscribe *s, const struct push_message *m)
{
    return is_our_clock(s, m) ? 0 : m->realtime_offset_ns - s->realtime_offset_ns;
}

/* Lost messages were due before the message that reveals the gap, and count by its intended time.
 * The server dropped them unsent, so they have no service time. */
static void count_missed(struct client_subscribe *s, const struct push_message *m, uint64_t n_lost,
                         bool damaged)
{
    const struct client_transport *t = s->transport;
    const struct client_span *span = s->span;
    const uint64_t intended_ns = m->intended_ns + shift_of(s, m);

    if (span->measure_ns == 0 || intended_ns < span->measure_ns || intended_ns >= span->end_ns)
        return;
    tally_add(&t->figures->tally.push.missed, n_lost + damaged);
    hist_record_beyond(&t->figures->metrics[CLIENT_RESPONSE], n_lost + damaged);
    hist_record_beyond(&t->figures->metrics[CLIENT_SERVICE], damaged);
    if (t->config->socket.stamp_received)
        hist_record_beyond(&t->figures->metrics[CLIENT_NET], damaged);
}

/* Counts a message by its intended time. */
static void count(struct client_subscribe *s, const struct client_conn *c,
                  const struct push_message *m, uint64_t received_ns)
{
    const struct client_span *span = s->span;
    struct tally_push *counts = &s->transport->figures->tally.push;
    const uint64_t shift_ns = shift_of(s, m), intended_ns = m->intended_ns + shift_ns;

    tally_add(&counts->other_clock, !is_our_clock(s, m));
    if (span->measure_ns == 0 || intended_ns < span->measure_ns) {
        tally_add(&counts->before, 1);
    } else if (intended_ns >= span->end_ns) {
        tally_add(&counts->after, 1);
    } else {
        tally_add(&counts->measured, 1);
        measure(c, m, shift_ns, received_ns);
    }
}

static void take_message(struct client_subscribe *s, struct client_conn *c,
                         const struct push_message *m, bool damaged, uint64_t received_ns)
{
    struct tally_push *counts = &s->transport->figures->tally.push;
    struct client_record *record = client_conn_record(c);
    uint64_t n_lost;
    const bool is_new = push_sequence_take(&subscriber(s, c)->next_sequence, m->sequence, &n_lost);

    tally_add(&counts->lost, n_lost);
    if (record != NULL)
        record->answers++;
    if (is_new && (n_lost > 0 || damaged) && m->sequence > 0)
        count_missed(s, m, n_lost, damaged);
    if (!is_new)
        tally_add(&counts->duplicate, 1);
    else if (damaged)
        tally_add(&counts->damaged, 1);
    else if (m->sequence > 0)
        count(s, c, m, received_ns);
    if (!c->proven)
        client_conn_mark_proven(c);
}

/* A connection has a buffer only while a message is incomplete. */
static void keep_partial(struct client_subscriber *sub, struct client_conn *c,
                         const struct push_stream *stream)
{
    if (stream->offset == 0) {
        free(sub->partial);
        sub->partial = NULL;
        return;
    }
    if (stream == sub->partial)
        return;
    sub->partial = malloc(sizeof *sub->partial);
    if (sub->partial != NULL)
        *sub->partial = *stream;
    else
        client_conn_close(c, (struct outcome){PHASE_RECEIVE, REASON_MEMORY}, ENOMEM);
}

static void take_closed(struct client_subscribe *s, struct client_conn *c);

void client_subscribe_take(struct client_subscribe *s, struct client_conn *c, const uint8_t *data,
                           size_t n_bytes, uint64_t received_ns)
{
    struct push_stream fresh, *stream = subscriber(s, c)->partial;
    struct query_input in = {data, n_bytes};
    enum push_event event;

    if (n_bytes == 0) {
        take_closed(s, c);
        return;
    }
    s->span->now_ns = received_ns;
    s->span->answered = true;
    read_realtime(s, received_ns);
    if (stream == NULL) {
        fresh.offset = 0;
        stream = &fresh;
    }
    while ((event = push_next(stream, s->pattern, &in)) == PUSH_MESSAGE || event == PUSH_DAMAGED)
        take_message(s, c, &stream->message, event == PUSH_DAMAGED, received_ns);
    if (event == PUSH_MORE) {
        keep_partial(subscriber(s, c), c, stream);
    } else {
        tally_add(&s->transport->figures->tally.push.damaged, 1);
        client_conn_close(c, (struct outcome){PHASE_PROTOCOL, REASON_MALFORMED}, 0);
    }
}

/* --- unsubscribing --- */

/* Stops waiting for the connection. */
static void stop_awaiting(struct client_subscribe *s, struct client_subscriber *sub)
{
    if (!sub->leaving)
        return;
    sub->leaving = false;
    if (--s->n_leaving == 0) {
        event_del(&s->next_event);
        event_del(&s->read_event);
        client_stage_enter(s->stages, CLIENT_DRAINED);
    }
}

/* The server closed its half. */
static void take_closed(struct client_subscribe *s, struct client_conn *c)
{
    struct client_subscriber *sub = subscriber(s, c);

    if (sub->partial != NULL)
        tally_add(&s->transport->figures->tally.push.damaged, 1);
    if (!sub->leaving) {
        client_conn_close(c,
                          c->state == CLIENT_CONN_FINISHING
                              ? (struct outcome){PHASE_RUN, REASON_FINISHED}
                              : (struct outcome){PHASE_RECEIVE, REASON_PEER},
                          0);
        return;
    }
    poller_stop(&s->transport->poller, &c->socket);
    stop_awaiting(s, sub);
}

void client_subscribe_ended(struct client_subscribe *s, struct client_conn *c,
                            struct outcome outcome)
{
    struct client_subscriber *sub = subscriber(s, c);

    if (outcome.phase == PHASE_RECEIVE && outcome.reason == REASON_RESET && sub->partial != NULL)
        tally_add(&s->transport->figures->tally.push.damaged, 1);
    stop_awaiting(s, sub);
}

static bool is_read(const struct client_conn *c)
{
    return c->state == CLIENT_CONN_LIVE || c->state == CLIENT_CONN_FINISHING;
}

/* Shuts down the sending side of all connections. */
static void leave_all(struct client_subscribe *s)
{
    const struct client_transport *t = s->transport;
    const uint64_t now_ns = clock_now_ns();

    for (uint32_t i = 0; i < t->n_conns; i++)
        if (is_read(&t->conns[i])) {
            shutdown(t->conns[i].socket.fd, SHUT_WR);
            s->all[i].leaving = true;
            s->n_leaving++;
        }
    if (s->n_leaving > 0)
        worker_add_timer_at(&s->next_event, now_ns + t->config->timeout_ns, now_ns);
    else
        client_stage_enter(s->stages, CLIENT_DRAINED);
}

/* Reads the sockets first: after a stall, they still hold messages that arrived in time. */
static void on_next(evutil_socket_t fd, short what, void *arg)
{
    struct client_subscribe *s = arg;

    (void)fd;
    (void)what;
    if (s->n_leaving == 0) {
        leave_all(s);
        return;
    }
    if (!worker_await_reads(&s->next_event, &s->read_event))
        return;
    tally_add(&s->transport->figures->tally.push.unfinished, s->n_leaving);
    client_stage_enter(s->stages, CLIENT_DRAINED);
}

static void end_after(struct client_subscribe *s, uint64_t drain_ns)
{
    const uint64_t now_ns = clock_now_ns();

    worker_add_timer_at(&s->next_event, now_ns + drain_ns, now_ns);
}

void client_subscribe_end(struct client_subscribe *s)
{
    end_after(s, s->transport->config->drain_ns);
}

void client_subscribe_stop(struct client_subscribe *s)
{
    const uint64_t now_ns = clock_now_ns();

    if (s->span->end_ns > now_ns)
        s->span->end_ns = s->transport->figures->stopped_ns = now_ns;
    if (s->n_leaving == 0 && client_stage_of(s->stages) < CLIENT_DRAINED)
        end_after(s, 0);
}
