/* SPDX-License-Identifier: MIT
 * server_push: see server/push.h. */
#include "server/push.h"

#include "base/clock.h"
#include "base/units.h"
#include "net/thread.h"
#include "net/worker.h"
#include "server/io.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

/* Random streams of the seed, one per worker. */
#define SEED 42u

/* Interval at which CLOCK_REALTIME is read again: it may be set while the server runs. */
#define OFFSET_AGE_NS UNITS_NS_PER_S

static void on_timer(evutil_socket_t fd, short what, void *arg);
static void greet(struct server_conn *c);
static int subscribe(struct server_conn *c);
static void unsubscribe(struct server_conn *c);

int server_push_init(struct server_conns *conns, uint32_t worker_index)
{
    static const struct server_conn_push_ops ops = {
        .greet = greet, .subscribe = subscribe, .unsubscribe = unsubscribe};
    struct server_push *p;

    if (conns->config->push_rate_per_s <= 0)
        return 0;
    p = conns->push = calloc(1, sizeof *p);
    if (p == NULL)
        return -1;
    conns->push_ops = &ops;
    thread_run_in_batches();
    p->pacer.next_ns = PACER_NEVER;
    rng_seed(&p->rng, SEED, worker_index);
    push_pattern_fill(&p->pattern);
    p->clock_id = clock_identity();
    /* not before the sockets: a worker that is late must still accept and close */
    return alarm_init(&p->alarm, conns->base, WORKER_PRIORITY_SOCKET, on_timer, conns);
}

void server_push_free(struct server_conns *conns)
{
    struct server_push *p = conns->push;

    if (p == NULL)
        return;
    alarm_free(&p->alarm);
    free(p->subscribers);
    free(p);
    conns->push = NULL;
}

/* --- pacing --- */

static void arm_timer(struct server_push *p)
{
    if (p->pacer.next_ns != PACER_NEVER)
        alarm_set(&p->alarm, p->pacer.next_ns);
    else
        alarm_clear(&p->alarm);
}

/* Moves the next constant arrival to the new rate by stretching the rest of the gap. */
static uint64_t next_constant_ns(const struct server_push *p, double rate_per_s, uint64_t from_ns)
{
    const double left_ns = p->pacer.next_ns == PACER_NEVER
                               ? 0
                               : (double)(p->pacer.next_ns - from_ns) * p->rate.rate_begin_qps;

    return from_ns + (uint64_t)(left_ns / rate_per_s);
}

/* The time up to which all arrivals have been taken; if more are due, the time of the last one
 * taken. */
static uint64_t taken_until_ns(const struct server_push *p, uint64_t now_ns)
{
    return p->pacer.next_ns > now_ns || p->n_due == 0 ? now_ns : p->due[p->n_due - 1].intended_ns;
}

/* Adapts the rate to the numbers of subscribers, also for arrivals that are due and not yet taken:
 * a worker that is always behind would otherwise never adapt.  Poisson arrivals are memoryless, so
 * they start afresh. */
static void follow_subscribers(struct server_conns *conns, uint64_t now_ns)
{
    const struct server_config *config = conns->config;
    const uint64_t n_all = atomic_load_explicit(&config->n_subscribers, memory_order_relaxed);
    struct server_push *p = conns->push;
    const bool is_random = config->push_select == SERVER_SELECT_RANDOM;
    struct pacer_config pacing = {
        .arrival = is_random ? PACER_POISSON : PACER_CONSTANT,
        .segments = &p->rate,
        .n_segments = 1,
        .n_connections = 1,
        .n_workers = 1,
    };
    uint64_t from_ns, start_ns;
    double rate_per_s;

    if (p->n == p->paced_n && n_all == p->paced_n_all)
        return;
    p->paced_n = p->n;
    p->paced_n_all = n_all;
    if (p->n == 0) {
        p->pacer.next_ns = PACER_NEVER;
        return;
    }
    rate_per_s = config->push_rate_per_s * p->n / (double)(n_all > p->n ? n_all : p->n);
    from_ns = taken_until_ns(p, now_ns);
    start_ns = is_random ? from_ns : next_constant_ns(p, rate_per_s, from_ns);
    p->rate = (struct pacer_segment){PACER_NEVER, rate_per_s, rate_per_s};
    pacing.seed = rng_next(&p->rng);
    pacer_start(&p->pacer, &pacing, start_ns);
}

/* --- selection --- */

static struct server_subscriber *choose(const struct server_conns *conns)
{
    struct server_push *p = conns->push;
    uint32_t i;

    if (conns->config->push_select == SERVER_SELECT_RANDOM)
        return &p->subscribers[rng_below(&p->rng, p->n)];
    i = p->next_round_robin < p->n ? p->next_round_robin : 0;
    p->next_round_robin = i + 1;
    return &p->subscribers[i];
}

static void add_due(struct server_push *p, struct server_subscriber *s, uint64_t intended_ns)
{
    const uint16_t i = (uint16_t)p->n_due++;

    p->due[i] = (struct server_due){intended_ns, SERVER_PUSH_NONE};
    if (s->first_due == SERVER_PUSH_NONE) {
        s->first_due = i;
        p->turn[p->n_turn++] = s->conn;
    } else {
        p->due[s->last_due].next = i;
    }
    s->last_due = i;
}

static void take_due(const struct server_conns *conns, uint64_t now_ns)
{
    struct server_push *p = conns->push;

    p->n_due = p->n_turn = 0;
    while (p->n > 0 && p->pacer.next_ns <= now_ns && p->n_due < SERVER_PUSH_TURN) {
        add_due(p, choose(conns), p->pacer.next_ns);
        pacer_advance(&p->pacer);
    }
}

/* --- sending --- */

/* Encodes messages of the list from *i on, as many as fit.  Returns their number. */
static uint32_t encode(const struct server_conns *conns, struct server_subscriber *s, uint16_t *i)
{
    struct server_push *p = conns->push;
    const uint32_t size = conns->config->push_bytes, most = PUSH_MAX_BYTES / size;
    const uint64_t sent_ns = clock_now_ns();
    uint32_t n = 0;

    for (; *i != SERVER_PUSH_NONE && n < most; *i = p->due[*i].next) {
        const struct push_message m = {
            .n_bytes = size,
            .sequence = s->sequence++,
            .intended_ns = p->due[*i].intended_ns,
            .sent_ns = sent_ns,
            .realtime_offset_ns = p->realtime_offset_ns,
            .clock_id = p->clock_id,
        };

        push_encode(&m, &p->pattern, p->out + (size_t)n++ * size);
    }
    return n;
}

static void send_due(struct server_conns *conns, struct server_conn *c)
{
    struct server_push *p = conns->push;
    struct server_subscriber *s = &p->subscribers[c->subscriber];
    uint16_t i = s->first_due;

    s->first_due = SERVER_PUSH_NONE;
    while (i != SERVER_PUSH_NONE && c->open) {
        const uint32_t n = encode(conns, s, &i);
        const uint32_t n_taken = server_io_send(c, p->out, n, conns->config->push_bytes);

        tally_add(&conns->tally.pushed, n_taken);
        tally_add(&conns->tally.push_dropped, n - n_taken);
    }
    for (; i != SERVER_PUSH_NONE; i = p->due[i].next) /* the subscriber has ended */
        tally_add(&conns->tally.push_dropped, 1);
}

static void read_realtime(struct server_push *p, uint64_t now_ns)
{
    if (p->offset_read_ns != 0 && now_ns - p->offset_read_ns < OFFSET_AGE_NS)
        return;
    p->realtime_offset_ns = clock_realtime_offset_ns();
    p->offset_read_ns = now_ns;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct server_conns *conns = arg;
    struct server_push *p = conns->push;
    const uint64_t now_ns = clock_now_ns();

    (void)fd;
    (void)what;
    read_realtime(p, now_ns);
    take_due(conns, now_ns);
    for (uint32_t i = 0; i < p->n_turn; i++)
        send_due(conns, p->turn[i]);
    follow_subscribers(conns, now_ns);
    arm_timer(p);
}

/* --- subscribers --- */

static void greet(struct server_conn *c)
{
    struct server_push *p = c->conns->push;
    const uint64_t now_ns = clock_now_ns();
    struct push_message greeting = {
        .n_bytes = PUSH_MIN_BYTES,
        .intended_ns = now_ns,
        .sent_ns = now_ns,
        .clock_id = p->clock_id,
    };

    c->subscriber = SERVER_NO_SUBSCRIBER;
    read_realtime(p, now_ns);
    greeting.realtime_offset_ns = p->realtime_offset_ns;
    push_encode(&greeting, &p->pattern, p->out);
    server_io_send_all(c, p->out, PUSH_MIN_BYTES);
}

static int make_room(struct server_push *p)
{
    const uint32_t capacity = p->capacity > 0 ? 2 * p->capacity : FIRST_CAPACITY;
    struct server_subscriber *grown;

    if (p->n < p->capacity)
        return 0;
    grown = realloc(p->subscribers, capacity * sizeof *grown);
    if (grown == NULL)
        return -1;
    p->subscribers = grown;
    p->capacity = capacity;
    return 0;
}

static int subscribe(struct server_conn *c)
{
    struct server_conns *conns = c->conns;
    struct server_push *p = conns->push;

    if (make_room(p) != 0)
        return -1;
    c->subscriber = p->n++;
    p->subscribers[c->subscriber] = (struct server_subscriber){
        .conn = c, .sequence = 1, .first_due = SERVER_PUSH_NONE, .last_due = SERVER_PUSH_NONE};
    atomic_fetch_add_explicit(&conns->config->n_subscribers, 1, memory_order_relaxed);
    if (p->pacer.next_ns == PACER_NEVER) {
        follow_subscribers(conns, clock_now_ns());
        arm_timer(p);
    }
    return 0;
}

static void unsubscribe(struct server_conn *c)
{
    struct server_push *p = c->conns->push;

    if (c->subscriber == SERVER_NO_SUBSCRIBER)
        return;
    p->subscribers[c->subscriber] = p->subscribers[--p->n];
    p->subscribers[c->subscriber].conn->subscriber = c->subscriber;
    atomic_fetch_sub_explicit(&c->conns->config->n_subscribers, 1, memory_order_relaxed);
}
