/* SPDX-License-Identifier: MIT
 * client_listen: see client/worker/subscribe.h. */
#include "client/worker/subscribe.h"

#include "base/clock.h"
#include "client/worker/worker.h"
#include "net/thread.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Subscriptions at a time: enough to amortise the turn, few enough not to keep messages waiting. */
enum { SUBSCRIBE_BATCH = 64 };

static void on_subscribe(evutil_socket_t fd, short what, void *arg);
static void on_next(evutil_socket_t fd, short what, void *arg);

static struct client_listener *listener_of(const struct client_conn *c)
{
    return &c->worker->listen.listeners[c - c->worker->conns];
}

/* A message that wakes up its listener must not take the CPU from the one who sends: where both
 * share a machine that is full, that is a switch for every few messages (36,000/s instead of 600/s
 * at 150,000 messages/s on 2 CPUs, and a third of all CPU time). */
int client_listen_init(struct client_worker *cw)
{
    struct client_listen *l = &cw->listen;
    const struct timeval timeout = clock_timeval(cw->config->timeout_ns);

    thread_run_in_batches();
    l->listeners = calloc(cw->n_conns, sizeof *l->listeners);
    l->pattern = malloc(sizeof *l->pattern);
    if (l->listeners == NULL || l->pattern == NULL)
        return -1;
    push_pattern_fill(l->pattern);
    l->clock_id = clock_identity();
    l->realtime_offset_ns = clock_realtime_offset_ns();
    l->least_ns = INT64_MAX;
    l->joined = CLIENT_LISTEN_NONE;
    evtimer_assign(&l->subscribe_event, cw->worker.base, on_subscribe, cw);
    evtimer_assign(&l->next_event, cw->worker.base, on_next, cw);
    l->timeout = event_base_init_common_timeout(cw->worker.base, &timeout);
    return l->timeout != NULL ? 0 : -1;
}

void client_listen_free(struct client_worker *cw)
{
    struct client_listen *l = &cw->listen;

    for (uint32_t i = 0; l->listeners != NULL && i < cw->n_conns; i++)
        free(l->listeners[i].partial);
    free(l->listeners);
    free(l->pattern);
}

void client_listen_begin(struct client_conn *c)
{
    struct client_listener *s = listener_of(c);

    free(s->partial);
    *s = (struct client_listener){.has_joined = s->has_joined, .next_joined = s->next_joined};
}

void client_listen_unheard(struct client_conn *c)
{
    event_remove_timer(&c->event);
    if (c->state == CLIENT_CONN_PROVING)
        client_conn_is_half_open(c);
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
        client_conn_broken(c, error);
}

void client_listen_joined(struct client_conn *c)
{
    struct client_listen *l = &c->worker->listen;
    struct client_listener *s = listener_of(c);

    if (s->has_joined)
        return;
    s->has_joined = true;
    s->next_joined = l->joined;
    l->joined = (uint32_t)(c - c->worker->conns);
    event_active(&l->subscribe_event, EV_TIMEOUT, 0);
}

static struct client_conn *take_joined(struct client_worker *cw)
{
    struct client_listen *l = &cw->listen;
    const uint32_t i = l->joined;

    l->joined = l->listeners[i].next_joined;
    l->listeners[i].has_joined = false;
    return &cw->conns[i];
}

static void on_subscribe(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval at_once;
    struct client_worker *cw = arg;
    struct client_listen *l = &cw->listen;
    uint32_t *next = &l->next_to_subscribe;
    int n = 0;

    (void)fd;
    (void)what;
    if (!cw->load.running)
        return;
    for (; n < SUBSCRIBE_BATCH && l->joined != CLIENT_LISTEN_NONE; n++)
        subscribe(take_joined(cw));
    for (; n < SUBSCRIBE_BATCH && *next < cw->n_conns; n++)
        subscribe(&cw->conns[(*next)++]);
    if (*next < cw->n_conns || l->joined != CLIENT_LISTEN_NONE)
        worker_add_timer(&l->subscribe_event, &at_once);
}

void client_listen_start(struct client_worker *cw)
{
    on_subscribe(-1, 0, cw);
}

/* --- a message --- */

static void record(struct hist *h, int64_t span_ns)
{
    hist_record(h, span_ns > 0 ? (uint64_t)span_ns : 0);
}

static void push_row(const struct client_conn *c, const struct push_message *m, uint64_t lag_ns,
                     uint64_t span_ns, uint64_t received_ns)
{
    const struct client_worker *cw = c->worker;
    const struct rows_record row = {.time_ns = received_ns,
                                    .lag_ns = lag_ns,
                                    .span_ns = span_ns,
                                    .connection = cw->first_conn + (uint32_t)(c - cw->conns),
                                    .id = (uint16_t)m->sequence,
                                    .type = 'A'};

    rows_push(cw->config->rows, cw->worker.index, &row);
}

/* Times are the sender's, moved to this host's clock. */
static void measure(struct client_conn *c, const struct push_message *m, uint64_t shift_ns,
                    uint64_t received_ns)
{
    struct client_worker *cw = c->worker;
    const uint64_t sent_ns = m->sent_ns + shift_ns;
    const int64_t response_ns = (int64_t)(received_ns - m->intended_ns - shift_ns);
    const int64_t delay_ns = cw->arrived_ns != 0 ? (int64_t)(received_ns - cw->arrived_ns) : 0;

    record(&cw->metrics[CLIENT_RESPONSE], response_ns);
    record(&cw->metrics[CLIENT_SERVICE], (int64_t)(received_ns - sent_ns));
    record(&cw->metrics[CLIENT_SEND_LAG], (int64_t)(m->sent_ns - m->intended_ns));
    if (cw->arrived_ns != 0)
        record(&cw->metrics[CLIENT_NET], (int64_t)(cw->arrived_ns - sent_ns));
    record(&cw->metrics[CLIENT_OWN], (int64_t)(m->sent_ns - m->intended_ns) + delay_ns);
    if (response_ns < cw->listen.least_ns)
        cw->listen.least_ns = response_ns;
    tally_add(&cw->tally.push.negative, response_ns < 0);
    if (cw->config->rows != NULL)
        push_row(c, m, m->sent_ns - m->intended_ns, received_ns - sent_ns, received_ns);
}

static bool is_our_clock(const struct client_listen *l, const struct push_message *m)
{
    return m->clock_id != 0 && m->clock_id == l->clock_id;
}

/* To be added to the sender's times; the same clock needs no translation. */
static uint64_t shift_of(const struct client_listen *l, const struct push_message *m)
{
    return is_our_clock(l, m) ? 0 : m->realtime_offset_ns - l->realtime_offset_ns;
}

/* Lost messages were due before the one that shows the gap and count by its intended time.  The
 * server drops them unsent: they have no service time. */
static void count_missed(struct client_worker *cw, const struct push_message *m, uint64_t n_lost,
                         bool damaged)
{
    const struct client_load *load = &cw->load;
    const uint64_t intended_ns = m->intended_ns + shift_of(&cw->listen, m);

    if (load->measure_ns == 0 || intended_ns < load->measure_ns || intended_ns >= load->end_ns)
        return;
    tally_add(&cw->tally.push.missed, n_lost + damaged);
    hist_record_beyond(&cw->metrics[CLIENT_RESPONSE], n_lost + damaged);
    hist_record_beyond(&cw->metrics[CLIENT_SERVICE], damaged);
    if (cw->config->socket.stamp_received)
        hist_record_beyond(&cw->metrics[CLIENT_NET], damaged);
}

/* By its intended time. */
static void count(struct client_conn *c, const struct push_message *m, uint64_t received_ns)
{
    struct client_worker *cw = c->worker;
    const struct client_load *load = &cw->load;
    struct tally_push *counts = &cw->tally.push;
    const uint64_t shift_ns = shift_of(&cw->listen, m), intended_ns = m->intended_ns + shift_ns;

    tally_add(&counts->other_clock, !is_our_clock(&cw->listen, m));
    if (load->measure_ns == 0 || intended_ns < load->measure_ns) {
        tally_add(&counts->before, 1);
    } else if (intended_ns >= load->end_ns) {
        tally_add(&counts->after, 1);
    } else {
        tally_add(&counts->measured, 1);
        measure(c, m, shift_ns, received_ns);
    }
}

static void take_message(struct client_conn *c, const struct push_message *m, bool damaged,
                         uint64_t received_ns)
{
    struct tally_push *counts = &c->worker->tally.push;
    struct client_record *record = client_worker_record(c);
    uint64_t n_lost;
    const bool is_new = push_sequence_take(&listener_of(c)->next_sequence, m->sequence, &n_lost);

    tally_add(&counts->lost, n_lost);
    if (record != NULL)
        record->answers++;
    if (is_new && (n_lost > 0 || damaged) && m->sequence > 0)
        count_missed(c->worker, m, n_lost, damaged);
    if (!is_new)
        tally_add(&counts->duplicate, 1);
    else if (damaged)
        tally_add(&counts->damaged, 1);
    else if (m->sequence > 0)
        count(c, m, received_ns);
    if (!c->proven) {
        event_remove_timer(&c->event);
        client_conn_is_proven(c);
    }
}

/* Between two messages a connection has no buffer. */
static void keep(struct client_conn *c, const struct push_stream *stream)
{
    struct client_listener *s = listener_of(c);

    if (stream->offset == 0) {
        free(s->partial);
        s->partial = NULL;
        return;
    }
    if (stream == s->partial)
        return;
    s->partial = malloc(sizeof *s->partial);
    if (s->partial != NULL)
        *s->partial = *stream;
    else
        client_conn_close(c, (struct outcome){PHASE_RECEIVE, REASON_MEMORY}, ENOMEM);
}

void client_listen_take(struct client_conn *c, const uint8_t *data, size_t n_bytes,
                        uint64_t received_ns)
{
    struct client_worker *cw = c->worker;
    struct push_stream fresh, *stream = listener_of(c)->partial;
    struct query_input in = {data, n_bytes};
    enum push_event event;

    cw->load.now_ns = received_ns;
    if (stream == NULL) {
        fresh.offset = 0;
        stream = &fresh;
    }
    while ((event = push_next(stream, cw->listen.pattern, &in)) == PUSH_MESSAGE ||
           event == PUSH_DAMAGED)
        take_message(c, &stream->message, event == PUSH_DAMAGED, received_ns);
    if (event == PUSH_MORE) {
        keep(c, stream);
    } else {
        tally_add(&cw->tally.push.damaged, 1);
        client_conn_close(c, (struct outcome){PHASE_PROTOCOL, REASON_MALFORMED}, 0);
    }
}

/* --- the end --- */

void client_listen_closed(struct client_conn *c)
{
    const struct client_listener *s = listener_of(c);

    if (s->partial != NULL)
        tally_add(&c->worker->tally.push.damaged, 1);
    if (!s->leaving) {
        client_conn_close(c, (struct outcome){PHASE_RECEIVE, REASON_PEER}, 0);
        return;
    }
    event_del(&c->event);
    client_listen_left(c);
}

void client_listen_left(struct client_conn *c)
{
    struct client_worker *cw = c->worker;
    struct client_listener *s = listener_of(c);

    if (!s->leaving)
        return;
    s->leaving = false;
    if (--cw->listen.n_leaving == 0) {
        event_del(&cw->listen.next_event);
        client_worker_enter(cw, CLIENT_DRAINED);
    }
}

static void leave(struct client_worker *cw)
{
    struct client_listen *l = &cw->listen;
    const uint64_t now_ns = clock_now_ns();

    for (uint32_t i = 0; i < cw->n_conns; i++)
        if (cw->conns[i].state == CLIENT_CONN_LIVE) {
            shutdown(event_get_fd(&cw->conns[i].event), SHUT_WR);
            l->listeners[i].leaving = true;
            l->n_leaving++;
        }
    if (l->n_leaving > 0)
        client_load_add_timer(&l->next_event, now_ns + cw->config->timeout_ns, now_ns);
    else
        client_worker_enter(cw, CLIENT_DRAINED);
}

static void on_next(evutil_socket_t fd, short what, void *arg)
{
    struct client_worker *cw = arg;

    (void)fd;
    (void)what;
    if (cw->listen.n_leaving == 0) {
        leave(cw);
        return;
    }
    tally_add(&cw->tally.push.unfinished, cw->listen.n_leaving);
    client_worker_enter(cw, CLIENT_DRAINED);
}

static void end_after(struct client_worker *cw, uint64_t drain_ns)
{
    const uint64_t now_ns = clock_now_ns();

    client_load_add_timer(&cw->listen.next_event, now_ns + drain_ns, now_ns);
}

void client_listen_end(struct client_worker *cw)
{
    end_after(cw, cw->config->drain_ns);
}

void client_listen_stop(struct client_worker *cw)
{
    const uint64_t now_ns = clock_now_ns();

    if (cw->load.end_ns > now_ns)
        cw->load.end_ns = now_ns;
    if (cw->listen.n_leaving == 0 &&
        atomic_load_explicit(&cw->stage, memory_order_relaxed) < CLIENT_DRAINED)
        end_after(cw, 0);
}
