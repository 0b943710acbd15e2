/* SPDX-License-Identifier: MIT
 * client_connect: see client/worker/connect.h. */
#include "client/worker/connect.h"

#include "base/clock.h"
#include "base/log.h"
#include "client/worker/worker.h"
#include "host/memory_watch.h"

#include <stdatomic.h>
#include <stdlib.h>

/* The main thread looks at the memory that is left every 20 ms. */
enum { MEMORY_WAIT_US = 5000 };

static void on_due(evutil_socket_t fd, short what, void *arg);

static bool wait_for_rate(struct client_worker *cw)
{
    struct client_connect *cc = &cw->connect;
    uint64_t now_ns;
    struct timeval wait;

    if (cw->config->connect_rate_per_s <= 0)
        return false;
    now_ns = clock_now_ns();
    if (cc->idle)
        pacer_skip_to(&cc->pacer, now_ns);
    cc->idle = false;
    if (cc->pacer.next_ns <= now_ns) {
        pacer_advance(&cc->pacer);
        return false;
    }
    wait = clock_timeval(cc->pacer.next_ns - now_ns);
    worker_add_timer(&cc->due_event, &wait);
    return true;
}

/* Once memory has been short, only connections that take the place of others are begun. */
static bool has_more(const struct client_worker *cw)
{
    return cw->connect.n_again > 0 ||
           (!memory_watch_was_short(cw->config->memory) && client_population_has_next(cw));
}

/* Otherwise the timer is set for when to try again. */
static bool may_begin(struct client_worker *cw)
{
    static const struct timeval wait = {.tv_usec = MEMORY_WAIT_US};

    if (!memory_watch_take(cw->config->memory)) {
        worker_add_timer(&cw->connect.due_event, &wait);
        return false;
    }
    if (!wait_for_rate(cw))
        return true;
    memory_watch_give_back(cw->config->memory);
    return false;
}

/* There is one. */
static struct client_conn *take_next(struct client_worker *cw)
{
    struct client_connect *cc = &cw->connect;
    uint32_t i;

    if (cc->n_again == 0)
        return client_population_take_next(cw);
    i = cc->again[cc->first_again];
    cc->first_again = (cc->first_again + 1) % cw->n_conns;
    cc->n_again--;
    return &cw->conns[i];
}

/* Has client_connect_more() called once the callbacks that are ready have run. */
static void want_more(struct client_connect *cc)
{
    if (!cc->opening && !cc->stopped && !event_pending(&cc->due_event, EV_TIMEOUT, NULL))
        event_active(&cc->due_event, EV_TIMEOUT, 0);
}

static void check_all_settled(struct client_worker *cw)
{
    const struct client_connect *cc = &cw->connect;

    if (cc->n_settled >= tally_get(&cw->population.n_wanted) ||
        (memory_watch_was_short(cw->config->memory) && cc->n_in_window == 0))
        client_worker_enter(cw, CLIENT_CONNECTED);
}

/* The rest of what the window allows follows after a look at the sockets. */
static void go_on_later(struct client_worker *cw)
{
    static const struct timeval at_once;
    struct client_connect *cc = &cw->connect;

    if (has_more(cw) && cc->n_in_window < cc->window &&
        !event_pending(&cc->due_event, EV_TIMEOUT, NULL))
        worker_add_timer(&cc->due_event, &at_once);
}

/* As many as window and rate allow, but no more than the window at a time: those that are
 * established at once must not keep the others from being served. */
void client_connect_more(struct client_worker *cw)
{
    struct client_connect *cc = &cw->connect;
    uint32_t n_begun = 0;

    if (cc->stopped)
        return;
    cc->opening = true;
    while (has_more(cw) && cc->n_in_window < cc->window && n_begun < cc->window && may_begin(cw)) {
        struct client_conn *c = take_next(cw);

        n_begun++;
        c->in_window = true;
        cc->n_in_window++;
        client_conn_open(c);
        client_send_all(cw);
    }
    cc->opening = false;
    cc->idle = !has_more(cw);
    go_on_later(cw);
    check_all_settled(cw);
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    client_connect_more(arg);
}

void client_connect_pace(const struct client_worker *cw, struct pacer *pacer,
                         struct pacer_segment *rate, double per_s, uint64_t start_ns)
{
    const struct client_config *config = cw->config;
    const struct pacer_config pacing = {
        .arrival = PACER_CONSTANT,
        .segments = rate,
        .n_segments = 1,
        .n_connections = config->n_connections,
        .n_workers = config->n_workers,
        .worker = cw->worker.index,
    };

    *rate = (struct pacer_segment){PACER_NEVER, per_s, per_s};
    pacer_start(pacer, &pacing, start_ns);
}

int client_connect_init(struct client_worker *cw)
{
    const struct client_config *config = cw->config;
    struct client_connect *cc = &cw->connect;
    struct timeval timeout = clock_timeval(config->connect_timeout_ns);

    if (cw->lives.places != NULL && (cc->again = calloc(cw->n_conns, sizeof *cc->again)) == NULL)
        return -1;
    srccursor_init(&cc->tuples, &config->plan, cw->first_conn, cw->n_conns, config->spare_tuple);
    cc->window = pacer_connections_of(config->connect_window, config->n_workers, cw->worker.index);
    if (cc->window == 0)
        cc->window = 1;
    cc->timeout = event_base_init_common_timeout(cw->worker.base, &timeout);
    evtimer_assign(&cc->due_event, cw->worker.base, on_due, cw);
    return cc->timeout != NULL ? 0 : -1;
}

void client_connect_free(struct client_worker *cw)
{
    free(cw->connect.again);
    srccursor_free(&cw->connect.tuples);
}

void client_connect_start(struct client_worker *cw, uint64_t start_ns)
{
    struct client_connect *cc = &cw->connect;

    cc->first_ns = start_ns;
    client_connect_pace(cw, &cc->pacer, &cc->rate, cw->config->connect_rate_per_s, start_ns);
    client_connect_more(cw);
}

static void count_first_settled(struct client_worker *cw)
{
    const uint64_t before = tally_get(&cw->connect.n_first_settled);
    uint64_t n = before;

    while (n < cw->n_conns && cw->conns[n].settled)
        n++;
    tally_add(&cw->connect.n_first_settled, n - before);
}

/* Each search of the kernel that finds nothing takes about a millisecond: it is not asked again. */
bool client_connect_use_fallback(struct client_worker *cw)
{
    static atomic_flag said;
    const struct client_config *config = cw->config;
    struct client_connect *cc = &cw->connect;

    if (config->fallback.ports == NULL)
        return false;
    srccursor_free(&cc->tuples);
    srccursor_init(&cc->tuples, &config->fallback, 0, 0, config->fallback_tuple);
    if (!config->quiet && !atomic_flag_test_and_set(&said))
        log_error("the kernel finds no free source port: binding those of "
                  "net.ipv4.ip_local_port_range explicitly");
    return true;
}

void client_connect_settled(struct client_worker *cw, struct client_conn *c)
{
    struct client_connect *cc = &cw->connect;

    if (!c->in_window)
        return;
    c->in_window = false;
    cc->n_in_window--;
    if (!c->settled)
        cc->n_settled++;
    c->settled = true;
    count_first_settled(cw);
    if (has_more(cw))
        want_more(cc);
    check_all_settled(cw);
}

void client_connect_again(struct client_worker *cw, const struct client_conn *c)
{
    struct client_connect *cc = &cw->connect;

    if (cc->stopped)
        return;
    cc->again[(cc->first_again + cc->n_again++) % cw->n_conns] = (uint32_t)(c - cw->conns);
    want_more(cc);
}

void client_connect_not_again(struct client_worker *cw, const struct client_conn *c)
{
    struct client_connect *cc = &cw->connect;
    const uint32_t n = cc->n_again;

    cc->n_again = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = cc->again[(cc->first_again + k) % cw->n_conns];

        if (i != (uint32_t)(c - cw->conns))
            cc->again[(cc->first_again + cc->n_again++) % cw->n_conns] = i;
    }
}

void client_connect_begin_no_more(struct client_worker *cw)
{
    struct client_connect *cc = &cw->connect;

    if (cc->stopped)
        return;
    cc->stopped = true;
    event_del(&cc->due_event);
    client_population_stop(cw);
    for (uint32_t i = 0; cw->lives.places != NULL && i < cw->n_conns; i++)
        client_life_stop(&cw->conns[i]);
}

void client_connect_stop(struct client_worker *cw)
{
    client_connect_begin_no_more(cw);
    for (uint32_t i = 0; i < cw->n_conns; i++)
        if (cw->conns[i].state == CLIENT_CONN_CONNECTING ||
            cw->conns[i].state == CLIENT_CONN_PROVING)
            client_conn_close(&cw->conns[i], (struct outcome){PHASE_RUN, REASON_CANCELLED}, 0);
}
