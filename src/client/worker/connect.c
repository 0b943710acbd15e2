/* SPDX-License-Identifier: MIT
 * client_connect: see client/worker/connect.h. */
#include "client/worker/connect.h"

#include "base/clock.h"
#include "client/worker/conn.h"
#include "client/worker/events.h"
#include "client/worker/setup_times.h"
#include "client/worker/wait.h"
#include "host/memory_watch.h"
#include "net/worker.h"

#include <errno.h>
#include <stdatomic.h>

/* The main thread updates the available memory every 20 ms. */
enum { MEMORY_WAIT_US = 5000 };

/* Limit on connections opened per call: connects that succeed at once must not starve the other
 * sockets. */
enum { MOST_PER_CALL = 256 };

/* Limit on the time per call under load, because queries become due meanwhile: opening takes 30 us
 * per connection, 300 us with TLS, and 256 in one go took 8 and 70 ms. */
#define MOST_NS_UNDER_LOAD 200000u

/* Connections that arrive on schedule use their own random numbers. */
#define SEED_OF_ARRIVALS 0x9e3779b97f4a7c15ull

static bool arrives(const struct client_connect *cc)
{
    return cc->transport->config->connect_arrival != CLIENT_CONNECT_WINDOW;
}

/* --- whether to open --- */

/* There is something to open: the rate counts from now on. */
static void end_idle(struct client_connect *cc, uint64_t now_ns)
{
    if (cc->idle)
        pacer_skip_to(&cc->pacer, now_ns);
    cc->idle = false;
}

static bool wait_for_rate(struct client_connect *cc)
{
    uint64_t now_ns;
    struct timeval wait;

    if (cc->transport->config->connect_rate_per_s <= 0)
        return false;
    now_ns = clock_now_ns();
    end_idle(cc, now_ns);
    if (cc->pacer.next_ns <= now_ns) {
        cc->due_ns = cc->pacer.next_ns;
        client_connect_next(cc, &cc->pacer);
        return false;
    }
    if (arrives(cc)) {
        alarm_set(&cc->alarm, cc->pacer.next_ns);
        cc->awaits_arrival = true;
        return true;
    }
    wait = clock_timeval(cc->pacer.next_ns - now_ns);
    worker_add_timer(&cc->due_event, &wait);
    return true;
}

static bool is_held(const struct client_connect *cc)
{
    const struct client_figures *f = cc->transport->figures;

    return !cc->unlimited && tally_get(&f->n_ever_usable) == 0 &&
           tally_get(&f->tally.connections.attempted) >= f->connect_window;
}

/* Only replacements are opened. */
static bool opens_no_more(const struct client_connect *cc)
{
    return cc->no_more || memory_watch_was_short(cc->transport->config->memory);
}

/* Whether the next slot of the pool is to be opened, and is free: its previous connection may still
 * be waiting for its last answers. */
static bool has_fresh(const struct client_connect *cc)
{
    return !opens_no_more(cc) && client_pool_has_next(cc->pool) &&
           client_conn_is_free(&cc->transport->conns[client_pool_next(cc->pool)]) && !is_held(cc);
}

static bool has_more(const struct client_connect *cc)
{
    return cc->reopen.n > 0 || has_fresh(cc);
}

/* Returns whether a connection may be opened now.  If not, sets a timer to try again. */
static bool reserve_one(struct client_connect *cc)
{
    static const struct timeval wait = {.tv_usec = MEMORY_WAIT_US};
    struct memory_watch *memory = cc->transport->config->memory;

    if (!memory_watch_take(memory)) {
        worker_add_timer(&cc->due_event, &wait);
        return false;
    }
    if (!wait_for_rate(cc))
        return true;
    memory_watch_give_back(memory);
    return false;
}

/* --- opening --- */

/* Whether the next one is a replacement.  Replacements and slots never tried take turns: otherwise
 * connections that fail again and again could starve the others. */
static bool is_next_reopened(const struct client_connect *cc)
{
    return cc->reopen.n > 0 && !(cc->was_reopened && has_fresh(cc));
}

static bool follows_schedule(const struct client_connect *cc)
{
    return cc->transport->config->population.n > 0;
}

static bool follows_requests(const struct client_connect *cc)
{
    return cc->transport->config->targets != NULL && !follows_schedule(cc);
}

static struct client_conn *take_reopened(struct client_connect *cc)
{
    return &cc->transport->conns[client_reopen_take(&cc->reopen)];
}

static struct client_conn *take_fresh(struct client_connect *cc)
{
    const uint32_t slot = client_pool_next(cc->pool);
    struct client_conn *c = &cc->transport->conns[slot];

    client_pool_open_next(cc->pool);
    if (follows_requests(cc))
        client_slots_forget(cc->slots, slot); /* a new request, not a replacement */
    if (follows_requests(cc) || follows_schedule(cc))
        c->settled |= cc->span->start_ns > 0; /* the run has started without it */
    return c;
}

/* Takes the next slot.  Its connection is NEW or ENDED. */
static struct client_conn *take_next(struct client_connect *cc)
{
    cc->was_reopened = is_next_reopened(cc);
    return cc->was_reopened ? take_reopened(cc) : take_fresh(cc);
}

void client_connect_try(struct client_connect *cc, struct client_conn *c)
{
    static const struct timeval at_once;
    uint64_t tuple;
    struct outcome failed;
    const int fd = client_tuples_connect(&cc->tuples, client_conn_target(c), &tuple, &failed);
    const int error = errno;

    if (client_slots_are_kept(cc->slots))
        cc->slots->all[client_conn_slot(c)].tuple = tuple;
    if (fd >= 0)
        client_events_open(c, fd);
    else if (failed.reason != REASON_PORTS || error != EAGAIN ||
             client_wait_start(c, &at_once) != 0)
        client_conn_fail(c, failed, error);
}

void client_connect_open(struct client_connect *cc, struct client_conn *c, uint64_t due_ns)
{
    struct client_transport *t = cc->transport;
    struct client_slots *slots = cc->slots;

    client_conn_begin(c, t);
    client_setup_times_opened(c, due_ns);
    client_hold_allow(&cc->hold, client_conn_slot(c), due_ns);
    c->replaces = client_slots_are_kept(slots) && client_slots_begin(slots, client_conn_slot(c));
    if (c->replaces)
        tally_add(&t->figures->tally.connections.reopened, 1);
    else if (t->config->on_demand)
        tally_add(&t->figures->n_requested, 1);
    client_connect_try(cc, c);
}

/* Whether a timer will call client_connect_more(). */
static bool is_waiting(const struct client_connect *cc)
{
    return cc->awaits_arrival || event_pending(&cc->due_event, EV_TIMEOUT, NULL);
}

/* Makes the loop call client_connect_more() after the pending callbacks. */
static void want_more(struct client_connect *cc)
{
    if (!cc->opening && !cc->stopped && !is_waiting(cc))
        event_active(&cc->due_event, EV_TIMEOUT, 0);
}

/* Replacements may fail again and again, so the window may never become empty. */
static void check_all_settled(struct client_connect *cc)
{
    const uint64_t n_settled = tally_get(&cc->transport->figures->n_settled);

    if (n_settled >= (opens_no_more(cc) ? cc->pool->n_open : cc->pool->n_wanted) ||
        cc->transport->config->on_demand)
        client_stage_enter(cc->stages, CLIENT_CONNECTED);
}

static bool has_room(const struct client_connect *cc)
{
    return cc->n_in_window < cc->transport->figures->connect_window;
}

/* Continues after polling the sockets. */
static void go_on_later(struct client_connect *cc)
{
    static const struct timeval at_once;

    if (has_more(cc) && has_room(cc) && !is_waiting(cc))
        worker_add_timer(&cc->due_event, &at_once);
}

/* Counts an arrival that was due before the window had room. */
static void count_held(struct client_connect *cc)
{
    if (arrives(cc) && cc->due_ns < cc->full_until_ns)
        tally_add(&cc->transport->figures->tally.connections.held, 1);
}

static uint32_t most_per_call(const struct client_connect *cc)
{
    const uint32_t window = cc->transport->figures->connect_window;

    return window < MOST_PER_CALL ? window : MOST_PER_CALL;
}

/* Returns whether more may be opened by a call that began at begin_ns. */
static bool has_time(const struct client_connect *cc, uint64_t begin_ns)
{
    return !cc->span->running || clock_now_ns() - begin_ns < MOST_NS_UNDER_LOAD;
}

/* Opens as many as window, rate and time allow, but at least one if window and rate do. */
void client_connect_more(struct client_connect *cc)
{
    const uint32_t most = most_per_call(cc);
    const uint64_t begin_ns = clock_now_ns();
    uint32_t n_opened = 0;

    if (cc->stopped)
        return;
    cc->opening = true;
    while (has_more(cc) && has_room(cc) && n_opened < most &&
           (n_opened == 0 || has_time(cc, begin_ns)) && reserve_one(cc)) {
        struct client_conn *c = take_next(cc);

        n_opened++;
        count_held(cc);
        c->in_window = true;
        cc->n_in_window++;
        client_connect_open(cc, c, cc->due_ns);
        client_send_all(cc->send);
    }
    cc->opening = false;
    cc->idle = !has_more(cc);
    go_on_later(cc);
    check_all_settled(cc);
}

/* Connections that could not be opened are handled before the worker's next turn. */
static void on_due(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    client_connect_more(arg);
}

static void on_arrival(evutil_socket_t fd, short what, void *arg)
{
    struct client_connect *cc = arg;

    alarm_clear(&cc->alarm);
    cc->awaits_arrival = false;
    on_due(fd, what, arg);
}

/* --- start and stop --- */

void client_connect_pace(const struct client_connect *cc, struct pacer *pacer,
                         struct pacer_segment *rate, double per_s, uint64_t start_ns)
{
    const struct client_config *config = cc->transport->config;
    const struct pacer_config pacing = {
        .arrival = client_config_pacing_of(config->connect_arrival),
        .segments = rate,
        .n_segments = 1,
        .n_connections = 1,
        .n_workers = 1,
        .seed = config->seed ^ SEED_OF_ARRIVALS,
    };

    *rate = (struct pacer_segment){PACER_NEVER, per_s, per_s};
    pacer_start(pacer, &pacing, start_ns);
    pacer_advance_by(pacer, cc->transport->worker);
}

void client_connect_next(const struct client_connect *cc, struct pacer *pacer)
{
    pacer_advance_by(pacer, cc->transport->config->n_workers);
}

int client_connect_init(struct client_connect *cc)
{
    const struct client_transport *t = cc->transport;
    const bool reuses = client_slots_are_kept(cc->slots);
    const uint32_t window =
        pacer_connections_of(t->config->connect_window, t->config->n_workers, t->worker);

    if (reuses && client_reopen_init(&cc->reopen, t->n_conns) != 0)
        return -1;
    if (client_config_holds_connects(t->config) && client_hold_init(&cc->hold, t->n_conns) != 0)
        return -1;
    client_tuples_init(&cc->tuples, t->config, t->first_conn, t->n_conns, reuses);
    t->figures->connect_window = window > 0 ? window : 1;
    cc->unlimited = client_config_opens_all(t->config);
    if (arrives(cc) &&
        (client_setup_times_init(t->figures, t->n_conns) != 0 ||
         alarm_init(&cc->alarm, t->base, WORKER_PRIORITY_TIMER, on_arrival, cc) != 0))
        return -1;
    evtimer_assign(&cc->due_event, t->base, on_due, cc);
    return 0;
}

void client_connect_free(struct client_connect *cc)
{
    alarm_free(&cc->alarm);
    client_reopen_free(&cc->reopen);
    client_hold_free(&cc->hold);
    client_tuples_free(&cc->tuples);
}

void client_connect_start(struct client_connect *cc, uint64_t start_ns)
{
    cc->transport->figures->first_connect_ns = start_ns;
    client_connect_pace(cc, &cc->pacer, &cc->rate, cc->transport->config->connect_rate_per_s,
                        start_ns);
    client_connect_more(cc);
}

void client_connect_stop(struct client_connect *cc)
{
    cc->stopped = true;
    event_del(&cc->due_event);
    alarm_clear(&cc->alarm);
}

/* --- ends --- */

/* Call it after counting the outcome, so that the main thread sees that first. */
static void count_settled(struct client_figures *f)
{
    atomic_store_explicit(&f->n_settled, tally_get(&f->n_settled) + 1, memory_order_release);
}

void client_connect_settled(struct client_connect *cc, struct client_conn *c)
{
    if (!c->in_window)
        return;
    if (arrives(cc) && !has_room(cc))
        cc->full_until_ns = clock_now_ns();
    c->in_window = false;
    cc->n_in_window--;
    if (!c->settled)
        count_settled(cc->transport->figures);
    c->settled = true;
    if (has_more(cc))
        want_more(cc);
    check_all_settled(cc);
}

void client_connect_beyond_first_window(struct client_connect *cc)
{
    /* even with nothing to open: a connection may have become usable after its proof had timed out,
     * or memory may have run short, and nothing else would continue then */
    cc->unlimited = true;
    want_more(cc);
}

void client_connect_no_more(struct client_connect *cc)
{
    cc->no_more = true;
    want_more(cc); /* nothing may be in the window */
}

void client_connect_again(struct client_connect *cc)
{
    cc->no_more = false;
}

void client_connect_freed(struct client_connect *cc)
{
    if (has_more(cc))
        want_more(cc);
}

/* From now on the rate may hold the connection back, however late the event comes. */
static void note_request(struct client_connect *cc, uint32_t slot, uint64_t now_ns)
{
    end_idle(cc, now_ns);
    client_hold_request(&cc->hold, slot, now_ns);
}

void client_connect_reopen(struct client_connect *cc, uint32_t slot)
{
    if (cc->stopped)
        return;
    client_reopen_add(&cc->reopen, slot);
    if (client_hold_is_kept(&cc->hold))
        note_request(cc, slot, clock_now_ns());
    want_more(cc);
}

void client_connect_cancel_reopen(struct client_connect *cc, uint32_t slot)
{
    client_reopen_remove(&cc->reopen, slot);
}
