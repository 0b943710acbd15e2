/* SPDX-License-Identifier: MIT
 * client_load: see client_load.h. */
#include "client_load.h"

#include "client_worker.h"
#include "clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* inflight_query.tag: the tally class, and whether it has been counted as blocked. */
enum { TAG_CLASS = 0x0f, TAG_BLOCKED = 0x10 };

/* Random tries to find another usable connection before looking at each. */
enum { REROUTE_TRIES = 64 };

/* Streams of the seed: each worker has one for arrivals (its pacer's own), one for the choice of
 * the connection and one for rerouting, so that a dead connection does not change the schedule. */
enum { STREAM_SELECT = 1 << 20, STREAM_REROUTE = 1 << 21 };

/* A look at the sockets takes about 1 us: when an arrival is nearer than that only the clock is
 * read. */
#define FINAL_SPIN_NS 2000u

#define NO_CONNECTION UINT32_MAX

static void on_timer(evutil_socket_t fd, short what, void *arg);
static void on_expiry(evutil_socket_t fd, short what, void *arg);
static void on_phase(evutil_socket_t fd, short what, void *arg);

static struct tally_queries *counts_of(struct client_worker *cw, const struct inflight_query *q)
{
    return &cw->tally.queries[q->tag & TAG_CLASS];
}

static bool is_measured(const struct inflight_query *q)
{
    return (q->tag & TAG_CLASS) == TALLY_MEASURED;
}

/* --- set up --- */

/* Room for a quarter of a second of this worker's queries to begin with: few runs ever grow it. */
static uint32_t expected_in_flight(const struct client_worker *cw)
{
    double rate = cw->config->schedule.rate_begin_qps * cw->n_conns / cw->config->n_connections;

    return rate > 4e6 ? 1000000 : (uint32_t)(rate / 4) + 256;
}

int client_load_init(struct client_worker *cw)
{
    const struct client_config *config = cw->config;
    struct client_load *l = &cw->load;

    l->turn_head = NO_CONNECTION;
    rng_seed(&l->select_rng, config->seed, STREAM_SELECT + cw->worker.index);
    rng_seed(&l->reroute_rng, config->seed, STREAM_REROUTE + cw->worker.index);
    evtimer_assign(&l->expiry_event, cw->worker.base, on_expiry, cw);
    evtimer_assign(&l->phase_event, cw->worker.base, on_phase, cw);
    l->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (l->timer_fd < 0)
        return -1;
    event_assign(&l->timer_event, cw->worker.base, l->timer_fd, EV_READ | EV_PERSIST, on_timer, cw);
    event_priority_set(&l->timer_event, WORKER_PRIORITY_TIMER);
    if (event_add(&l->timer_event, NULL) != 0 ||
        inflight_init(&l->inflight, expected_in_flight(cw)) != 0)
        return -1;
    if (config->loop == CLIENT_LOOP_CLOSED && closed_loop_init(&l->closed, cw->n_conns) != 0)
        return -1;
    return 0;
}

void client_load_free(struct client_worker *cw)
{
    struct client_load *l = &cw->load;

    if (event_initialized(&l->timer_event)) {
        event_del(&l->timer_event);
        event_del(&l->expiry_event);
        event_del(&l->phase_event);
        close(l->timer_fd);
    }
    inflight_free(&l->inflight);
    closed_loop_free(&l->closed);
}

/* --- timers --- */

static uint64_t next_due_ns(const struct client_worker *cw)
{
    const struct client_load *l = &cw->load;
    uint64_t next_ns =
        cw->config->loop == CLIENT_LOOP_CLOSED ? closed_loop_next_ns(&l->closed) : l->pacer.next_ns;

    return l->running && next_ns < l->end_ns ? next_ns : PACER_NEVER;
}

/* Setting it also takes back an expiry that was not read: no read(2) per turn.  Where the pacing
 * spins the timer only ends the sleep before; then it is off. */
static void arm_timer(struct client_worker *cw)
{
    const uint64_t next_ns = next_due_ns(cw), spin_ns = cw->config->spin_ns;
    struct itimerspec at = {0};

    if (next_ns != PACER_NEVER && spin_ns == 0)
        at.it_value = clock_timespec(next_ns);
    else if (next_ns != PACER_NEVER && next_ns > cw->load.now_ns &&
             next_ns - cw->load.now_ns > spin_ns)
        at.it_value = clock_timespec(next_ns - spin_ns);
    timerfd_settime(cw->load.timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static void add_timer(struct event *event, uint64_t at_ns, uint64_t now_ns)
{
    struct timeval wait = clock_timeval(at_ns > now_ns ? at_ns - now_ns + 999 : 0);

    worker_add_timer(event, &wait);
}

static void arm_expiry(struct client_worker *cw)
{
    struct client_load *l = &cw->load;
    uint32_t oldest = inflight_oldest(&l->inflight);

    if (oldest != INFLIGHT_NONE && !event_pending(&l->expiry_event, EV_TIMEOUT, NULL))
        add_timer(&l->expiry_event,
                  inflight_at(&l->inflight, oldest)->sent_ns + cw->config->timeout_ns,
                  clock_now_ns());
}

/* --- choosing a connection --- */

static bool is_usable(const struct client_worker *cw, uint32_t i)
{
    return cw->conns[i].state == CLIENT_CONN_LIVE;
}

static uint32_t choose_another(struct client_worker *cw)
{
    struct rng *rng = &cw->load.reroute_rng;
    uint32_t i = 0;

    if (tally_get(&cw->n_live) == 0)
        return NO_CONNECTION;
    for (int tries = 0; tries < REROUTE_TRIES; tries++) {
        i = rng_below(rng, cw->n_conns);
        if (is_usable(cw, i))
            return i;
    }
    while (!is_usable(cw, i))
        i = (i + 1) % cw->n_conns;
    return i;
}

static uint32_t choose(struct client_worker *cw, struct tally_queries *counts)
{
    struct client_load *l = &cw->load;
    uint32_t i;

    if (cw->config->select == CLIENT_SELECT_RANDOM) {
        i = rng_below(&l->select_rng, cw->n_conns);
    } else {
        i = l->next_round_robin;
        l->next_round_robin = i + 1 < cw->n_conns ? i + 1 : 0;
    }
    if (is_usable(cw, i))
        return i;
    i = choose_another(cw);
    if (i != NO_CONNECTION)
        tally_add(&counts->rerouted, 1);
    return i;
}

/* --- a turn: queue what is due, then send it --- */

static void join_turn(struct client_conn *c)
{
    struct client_load *l = &c->worker->load;
    const uint32_t i = (uint32_t)(c - c->worker->conns);

    if (c->in_turn)
        return;
    c->in_turn = true;
    c->next_in_turn = NO_CONNECTION;
    if (l->turn_head == NO_CONNECTION)
        l->turn_head = i;
    else
        c->worker->conns[l->turn_tail].next_in_turn = i;
    l->turn_tail = i;
}

static bool queue(struct client_worker *cw, uint32_t i, uint64_t intended_ns, uint8_t tag)
{
    struct client_load *l = &cw->load;
    struct client_conn *c = &cw->conns[i];
    uint32_t slot = inflight_queue(&l->inflight, &c->queries, i, intended_ns, tag);
    uint64_t gap_us;

    if (slot == INFLIGHT_NONE)
        return false;
    gap_us = (intended_ns - l->previous_intended_ns) / 1000;
    inflight_at(&l->inflight, slot)->gap_us = gap_us < UINT32_MAX ? (uint32_t)gap_us : UINT32_MAX;
    join_turn(c);
    return true;
}

/* A connection that has ended meanwhile has no next query: that is what a closed loop is. */
static uint32_t take_from_closed_loop(struct client_worker *cw)
{
    uint32_t i = closed_loop_pop(&cw->load.closed);

    return is_usable(cw, i) ? i : NO_CONNECTION;
}

static void take_due(struct client_worker *cw, uint64_t now_ns)
{
    struct client_load *l = &cw->load;
    const bool closed = cw->config->loop == CLIENT_LOOP_CLOSED;
    uint64_t intended_ns;

    while ((intended_ns = next_due_ns(cw)) <= now_ns && intended_ns != PACER_NEVER) {
        uint8_t class = intended_ns < l->measure_ns ? TALLY_WARMUP : TALLY_MEASURED;
        struct tally_queries *counts = &cw->tally.queries[class];
        uint32_t i;

        if (closed) {
            i = take_from_closed_loop(cw);
            if (i == NO_CONNECTION)
                continue;
        } else {
            pacer_advance(&l->pacer);
            i = choose(cw, counts);
        }
        tally_add(&counts->scheduled, 1);
        if (i == NO_CONNECTION || !queue(cw, i, intended_ns, class))
            tally_add(&counts->unsent, 1);
        l->previous_intended_ns = intended_ns;
    }
}

/* All of its queued queries wait for an id; those that have been counted stand before the new ones.
 */
static void count_blocked(struct client_conn *c)
{
    struct client_worker *cw = c->worker;
    uint32_t slot = c->queries.tail;
    struct inflight_query *q;

    for (; slot != INFLIGHT_NONE; slot = q->conn_prev) {
        q = inflight_at(&cw->load.inflight, slot);
        if (q->state != INFLIGHT_QUEUED || (q->tag & TAG_BLOCKED))
            return;
        q->tag |= TAG_BLOCKED;
        tally_add(&counts_of(cw, q)->blocked, 1);
    }
}

/* Gives ids to the connection's queued queries and encodes them, as many as the buffer takes. */
static uint32_t encode_queued(struct client_conn *c, uint64_t now_ns, size_t *n_bytes)
{
    struct client_worker *cw = c->worker;
    struct inflight *t = &cw->load.inflight;
    const struct query *query = &cw->config->query;
    uint32_t n = 0;

    *n_bytes = 0;
    while (c->queries.queued_head != INFLIGHT_NONE &&
           *n_bytes + query->n_bytes <= CLIENT_SEND_BYTES) {
        struct inflight_query *q = inflight_at(t, c->queries.queued_head);
        bool recycled;

        if (inflight_assign_id(t, &c->queries, &recycled) != 0) {
            count_blocked(c);
            break;
        }
        tally_add(&cw->tally.ids_recycled, recycled);
        query_encode(query, q->id, cw->to_send + *n_bytes);
        *n_bytes += query->n_bytes;
        inflight_mark_sent(t, &c->queries, now_ns);
        n++;
    }
    return n;
}

static void account_sent(struct client_worker *cw, struct inflight_query *q, uint64_t sent_ns)
{
    q->sent_ns = sent_ns;
    tally_add(&counts_of(cw, q)->sent, 1);
    if (cw->records != NULL)
        cw->records[q->connection].queries++;
    if (!is_measured(q))
        return;
    tally_add(&cw->in_flight, 1);
    cw->load.last_sent_ns = sent_ns;
    hist_record(&cw->metrics[CLIENT_SEND_LAG], sent_ns - q->intended_ns);
    if (cw->config->samples != NULL) {
        struct sample row = {.time_ns = sent_ns,
                             .lag_ns = sent_ns - q->intended_ns,
                             .span_ns = (uint64_t)q->gap_us * 1000,
                             .connection = cw->first_conn + q->connection,
                             .id = q->id,
                             .type = 'Q'};

        samples_push(cw->config->samples, cw->worker.index, &row);
    }
}

static void send_queued(struct client_conn *c)
{
    struct client_worker *cw = c->worker;
    struct inflight *t = &cw->load.inflight;

    while (c->queries.queued_head != INFLIGHT_NONE) {
        uint32_t slot = c->queries.queued_head;
        size_t n_bytes;
        uint32_t n = encode_queued(c, cw->load.now_ns, &n_bytes);
        uint64_t sent_ns;
        int error;

        if (n == 0)
            return;
        sent_ns = clock_now_ns();
        error = client_conn_send(c, cw->to_send, n_bytes);
        cw->load.now_ns = sent_ns;
        for (; n > 0; n--) {
            struct inflight_query *q = inflight_at(t, slot);

            account_sent(cw, q, sent_ns);
            slot = q->conn_next;
        }
        if (error != 0) {
            client_conn_broken(c, error);
            return;
        }
    }
}

static void send_turn(struct client_worker *cw)
{
    struct client_load *l = &cw->load;

    while (l->turn_head != NO_CONNECTION) {
        struct client_conn *c = &cw->conns[l->turn_head];

        l->turn_head = c->next_in_turn;
        c->in_turn = false;
        if (c->state != CLIENT_CONN_ENDED)
            send_queued(c);
    }
    arm_expiry(cw);
}

/* Nothing is scheduled, queued or awaited any more. */
static void check_drained(struct client_worker *cw)
{
    struct client_load *l = &cw->load;

    if (l->draining && l->inflight.n_sent == 0 && l->inflight.n_queued == 0) {
        l->draining = false;
        event_del(&l->phase_event);
        client_worker_enter(cw, CLIENT_DRAINED);
    }
}

static void take_turn(struct client_worker *cw)
{
    take_due(cw, cw->load.now_ns);
    send_turn(cw);
    arm_timer(cw);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct client_worker *cw = arg;

    (void)fd;
    (void)what;
    cw->load.now_ns = clock_now_ns();
    take_turn(cw);
}

bool client_load_before_turn(struct client_worker *cw)
{
    struct client_load *l = &cw->load;
    const uint64_t next_ns = next_due_ns(cw);

    if (next_ns == PACER_NEVER)
        return true;
    l->now_ns = clock_now_ns();
    if (next_ns > l->now_ns && next_ns - l->now_ns > cw->config->spin_ns)
        return true;
    if (next_ns > l->now_ns && next_ns - l->now_ns > FINAL_SPIN_NS)
        return false;
    while (l->now_ns < next_ns)
        l->now_ns = clock_now_ns();
    take_turn(cw);
    return false;
}

void client_load_after_read(struct client_worker *cw)
{
    struct client_load *l = &cw->load;

    if (next_due_ns(cw) <= l->now_ns)
        take_turn(cw);
    else if (l->turn_head != NO_CONNECTION)
        send_turn(cw);
    check_drained(cw);
}

/* --- phases --- */

static void spread_closed_loop(struct client_worker *cw, uint64_t start_ns)
{
    const struct client_config *config = cw->config;
    double step_ns = (double)config->interval_ns / config->n_connections;

    for (uint32_t i = 0; i < cw->n_conns; i++)
        if (is_usable(cw, i))
            closed_loop_push(&cw->load.closed,
                             start_ns + (uint64_t)(step_ns * (cw->first_conn + i)), i);
}

void client_load_start(struct client_worker *cw, uint64_t start_ns)
{
    const struct client_config *config = cw->config;
    struct client_load *l = &cw->load;
    const struct pacer_config pacing = {
        .arrival = (enum pacer_arrival)config->arrival,
        .segments = &config->schedule,
        .n_segments = 1,
        .n_connections = config->n_connections,
        .n_workers = cw->n_loaders,
        .worker = cw->loader,
        .seed = config->seed,
    };

    l->start_ns = start_ns;
    l->measure_ns = start_ns + config->warmup_ns;
    l->end_ns =
        config->duration_ns == PACER_NEVER ? PACER_NEVER : l->measure_ns + config->duration_ns;
    l->previous_intended_ns = start_ns;
    l->running = true;
    if (cw->loader < cw->n_loaders)
        pacer_start(&l->pacer, &pacing, start_ns);
    else
        l->pacer.next_ns = PACER_NEVER;
    if (config->loop == CLIENT_LOOP_CLOSED)
        spread_closed_loop(cw, start_ns);
    client_worker_enter(cw, CLIENT_LOADING);
    if (l->end_ns != PACER_NEVER)
        add_timer(&l->phase_event, l->end_ns, clock_now_ns());
    arm_timer(cw);
}

static void on_phase(evutil_socket_t fd, short what, void *arg)
{
    struct client_worker *cw = arg;
    struct client_load *l = &cw->load;

    (void)fd;
    (void)what;
    if (l->draining) {
        client_load_stop(cw);
        return;
    }
    l->now_ns = clock_now_ns();
    if (l->now_ns < l->end_ns) { /* libevent's timers are of whole microseconds */
        add_timer(&l->phase_event, l->end_ns, l->now_ns);
        return;
    }
    take_turn(cw); /* what became due before the end is sent, however late it is now */
    l->running = false;
    l->draining = true;
    arm_timer(cw);
    add_timer(&l->phase_event, l->end_ns + cw->config->drain_ns, l->now_ns);
    check_drained(cw);
}

void client_load_stop(struct client_worker *cw)
{
    struct client_load *l = &cw->load;

    l->running = false;
    l->draining = false;
    arm_timer(cw);
    event_del(&l->expiry_event);
    event_del(&l->phase_event);
    for (uint32_t i = 0; i < cw->n_conns; i++)
        if (cw->conns[i].state != CLIENT_CONN_NEW && cw->conns[i].state != CLIENT_CONN_ENDED)
            client_load_lost(&cw->conns[i], (struct outcome){PHASE_RUN, REASON_CANCELLED});
    client_worker_enter(cw, CLIENT_DRAINED);
}

/* --- the life of a query after it was sent --- */

void client_load_prove(struct client_conn *c)
{
    struct client_worker *cw = c->worker;
    struct tally_queries *counts = &cw->tally.queries[TALLY_PROBE];

    tally_add(&counts->scheduled, 1);
    cw->load.now_ns = clock_now_ns();
    if (!queue(cw, (uint32_t)(c - cw->conns), cw->load.now_ns, TALLY_PROBE)) {
        tally_add(&counts->unsent, 1);
        client_conn_close(c, (struct outcome){PHASE_SEND, REASON_MEMORY}, 0);
        return;
    }
    send_turn(cw);
}

static void next_in_closed_loop(struct client_conn *c, uint64_t now_ns)
{
    struct client_worker *cw = c->worker;

    if (cw->config->loop == CLIENT_LOOP_CLOSED && cw->load.running && c->state == CLIENT_CONN_LIVE)
        closed_loop_push(&cw->load.closed, now_ns + cw->config->interval_ns,
                         (uint32_t)(c - cw->conns));
}

void client_load_joined(struct client_conn *c)
{
    next_in_closed_loop(c, c->worker->load.now_ns);
}

/* SENT -> EXPIRED; the connection may be closed by it. */
static void expire(struct client_worker *cw, uint32_t slot, uint64_t now_ns)
{
    struct inflight_query *q = inflight_at(&cw->load.inflight, slot);
    struct client_conn *c = &cw->conns[q->connection];
    const uint8_t class = q->tag & TAG_CLASS;

    tally_add(&counts_of(cw, q)->timeout, 1);
    if (is_measured(q))
        tally_sub(&cw->in_flight, 1);
    inflight_expire(&cw->load.inflight, slot);
    if (class == TALLY_PROBE)
        client_conn_is_half_open(c);
    else if (cw->config->on_timeout == CLIENT_TIMEOUT_CLOSE)
        client_conn_close(c, (struct outcome){PHASE_RECEIVE, REASON_TIMEOUT}, 0);
    else
        next_in_closed_loop(c, now_ns);
}

static void on_expiry(evutil_socket_t fd, short what, void *arg)
{
    struct client_worker *cw = arg;
    struct inflight *t = &cw->load.inflight;
    const uint64_t now_ns = clock_now_ns();
    uint32_t slot;

    (void)fd;
    (void)what;
    while ((slot = inflight_oldest(t)) != INFLIGHT_NONE &&
           inflight_at(t, slot)->sent_ns + cw->config->timeout_ns <= now_ns)
        expire(cw, slot, now_ns);
    cw->load.now_ns = now_ns;
    arm_expiry(cw);
    check_drained(cw);
}

static void measure(struct client_worker *cw, const struct inflight_query *q, uint64_t received_ns)
{
    tally_sub(&cw->in_flight, 1);
    hist_record(&cw->metrics[CLIENT_RESPONSE], received_ns - q->intended_ns);
    hist_record(&cw->metrics[CLIENT_SERVICE], received_ns - q->sent_ns);
    if (cw->config->samples != NULL) {
        struct sample row = {.time_ns = received_ns,
                             .lag_ns = q->sent_ns - q->intended_ns,
                             .span_ns = received_ns - q->sent_ns,
                             .connection = cw->first_conn + q->connection,
                             .id = q->id,
                             .type = 'A'};

        samples_push(cw->config->samples, cw->worker.index, &row);
    }
}

static uint32_t find(struct client_conn *c, uint16_t id)
{
    const struct inflight *t = &c->worker->load.inflight;

    if (c->worker->config->query.protocol->has_id)
        return inflight_find(t, &c->queries, (uint32_t)(c - c->worker->conns), id);
    return c->queries.head != c->queries.queued_head ? c->queries.head : INFLIGHT_NONE;
}

static void count_stray(struct client_conn *c, uint16_t id)
{
    struct tally *tally = &c->worker->tally;

    tally_add(inflight_id_was_used(&c->queries, id) ? &tally->duplicate : &tally->unknown_id, 1);
}

void client_load_answer(struct client_conn *c, uint16_t id, uint64_t received_ns)
{
    struct client_worker *cw = c->worker;
    struct inflight *t = &cw->load.inflight;
    uint32_t slot = find(c, id);
    struct inflight_query *q;
    bool is_probe;

    cw->load.now_ns = received_ns;
    if (slot == INFLIGHT_NONE) {
        if (atomic_load_explicit(&cw->stage, memory_order_relaxed) != CLIENT_DRAINED)
            count_stray(c, id); /* afterwards it answers a query that was cancelled */
        return;
    }
    q = inflight_at(t, slot);
    is_probe = (q->tag & TAG_CLASS) == TALLY_PROBE;
    if (cw->records != NULL)
        cw->records[q->connection].answers++;
    if (q->state == INFLIGHT_SENT && received_ns - q->sent_ns >= cw->config->timeout_ns)
        expire(cw, slot, received_ns); /* the timer has not come to it yet */
    if (c->state == CLIENT_CONN_ENDED)
        return;
    if (q->state == INFLIGHT_EXPIRED) {
        tally_add(&cw->tally.late, 1);
    } else {
        tally_add(&counts_of(cw, q)->answered, 1);
        if (is_measured(q))
            measure(cw, q, received_ns);
    }
    if (q->state == INFLIGHT_SENT && !is_probe)
        next_in_closed_loop(c, received_ns);
    inflight_remove(t, &c->queries, slot);
    client_conn_is_proven(c);
    if (c->queries.queued_head != INFLIGHT_NONE)
        join_turn(c);
}

void client_load_lost(struct client_conn *c, struct outcome outcome)
{
    struct client_worker *cw = c->worker;
    struct inflight *t = &cw->load.inflight;
    const bool cancelled = outcome.reason == REASON_FINISHED || outcome.reason == REASON_CANCELLED;
    uint32_t slot;

    while ((slot = c->queries.head) != INFLIGHT_NONE) {
        const struct inflight_query *q = inflight_at(t, slot);
        struct tally_queries *counts = counts_of(cw, q);

        if (q->state == INFLIGHT_QUEUED)
            tally_add(&counts->unsent, 1);
        else if (q->state == INFLIGHT_SENT)
            tally_add(cancelled ? &counts->cancelled : &counts->error, 1);
        if (q->state == INFLIGHT_SENT && is_measured(q)) {
            tally_sub(&cw->in_flight, 1);
            if (!cancelled)
                tally_add(&cw->tally.errors[outcome.phase][outcome.reason], 1);
        }
        inflight_remove(t, &c->queries, slot);
    }
}
