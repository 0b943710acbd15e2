/* SPDX-License-Identifier: MIT
 * client_run_stages: see client/run_stages.h. */
#include "client/run_stages.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/notify.h"
#include "client/destinations.h"
#include "client/run_result.h"
#include "client/sweep.h"
#include "host/watch/watch_thread.h"

#include <inttypes.h>
#include <stdlib.h>

/* Records the counters that the result subtracts from those at the end. */
static void read_loaded(struct client_run_state *r)
{
    struct tally so_far = {0};

    client_run_read_host(r, &r->result->host_loaded, &r->result->net_loaded);
    client_workers_tally(&r->workers, &so_far);
    r->result->syn_retransmits_loaded = tally_get(&so_far.connections.syn_retransmits);
    r->result->replaced_loaded = tally_get(&so_far.connections.replaced);
}

/* The schedule begins at begin_ns. */
static void start_load(struct client_run_state *r, uint64_t begin_ns)
{
    const struct client_config *config = r->config;

    r->started = true;
    atomic_store_explicit(&r->has_load, true, memory_order_relaxed);
    client_workers_deal_arrivals(&r->workers,
                                 client_config_keeps_opening(config) || config->targets != NULL);
    read_loaded(r);
    r->begin_ns = begin_ns;
    r->measure_ns = r->begin_ns + config->warmup_ns;
    r->end_ns =
        config->duration_ns == PACER_NEVER ? PACER_NEVER : r->measure_ns + config->duration_ns;
    r->result->measured_epoch_ns =
        r->result->started_epoch_ns + (r->measure_ns - r->progress.start_ns);
    r->result->loaded = true;
    /* with --start-at, the settle time may have begun before the program */
    if (r->begin_ns > r->intervals.origin_ns + r->settings->settle_ns)
        r->intervals.previous_ns = r->intervals.last_ns = r->begin_ns - r->settings->settle_ns;
    client_steer_begin(&r->steer, r->begin_ns, r->end_ns);
    if (r->settings->sweep != NULL)
        client_sweep_begin(r->settings->sweep, r->begin_ns);
    if (config->rows != NULL)
        rows_begin(config->rows, r->begin_ns);
    client_workers_post(&r->workers, CLIENT_START, r->begin_ns);
    notify(NOTIFY_READY);
}

/* The connections are still open, so that their number can be compared with the servers'. */
static void read_servers(struct client_run_state *r)
{
    if (r->settings->servers != NULL)
        client_servers_read_after(r->settings->servers, r->settings->control_token);
}

/* Counts the sockets towards all addresses that the run connects to. */
static void count_sockets(const struct client_config *config, struct client_result *result)
{
    const struct sock_address *servers[CLIENT_CLASS_MOST];
    const unsigned n = client_destinations(config, servers);
    struct sockdiag_states *all = &result->sockets, more;

    result->has_sockets = sockdiag_count(servers[0], all) == 0;
    for (unsigned i = 1; i < n; i++) {
        if (sockdiag_count(servers[i], &more) != 0)
            continue;
        all->syn_sent += more.syn_sent;
        all->fin_wait += more.fin_wait;
        all->time_wait += more.time_wait;
        all->close_wait += more.close_wait;
        all->other += more.other;
    }
}

static void finish(struct client_run_state *r)
{
    r->closing = true;
    notify(NOTIFY_STOPPING);
    client_run_read_host(r, &r->result->host_after, &r->result->net_after);
    client_accept_queue_read(&r->result->queue_after, r->config);
    host_limits_read(&r->result->limits);
    if (!r->config->socket.datagrams)
        count_sockets(r->config, r->result);
    client_workers_connections(&r->workers, r->result);
    read_servers(r);
    if (r->settings->watch != NULL)
        watch_thread_stop(r->settings->watch);
    client_workers_post(&r->workers, CLIENT_CLOSE, 0);
    event_base_loopbreak(r->base);
}

void client_run_stop(struct client_run_state *r)
{
    start_gate_close(&r->gate);
    if (r->settings->sweep != NULL)
        client_sweep_stop(r->settings->sweep);
    r->stopped_ns = clock_now_ns();
    client_workers_post(&r->workers, CLIENT_STOP, 0);
}

/* No connection is left, and none will be opened. */
static bool is_deserted(const struct client_run_state *r)
{
    return !client_config_keeps_opening(r->config) &&
           CLIENT_WORKERS_GAUGE(&r->workers, n_live) == 0;
}

/* The connections may have been lost in the meantime. */
static void on_gate_opened(void *arg, uint64_t begin_ns)
{
    struct client_run_state *r = arg;

    if (is_deserted(r))
        client_run_stop(r);
    else
        start_load(r, begin_ns);
}

static void on_gate_missed(void *arg)
{
    client_run_stop(arg);
}

static void wait_at_gate(struct client_run_state *r)
{
    struct client_result *now = calloc(1, sizeof *now);

    r->gate = (struct start_gate){
        .settings = r->settings->gate,
        .start = &r->result->start,
        .opened = on_gate_opened,
        .missed = on_gate_missed,
        .arg = r,
    };
    if (now == NULL) {
        log_error("out of memory");
        client_run_stop(r);
        return;
    }
    client_workers_tally(&r->workers, &now->tally);
    client_workers_connections(&r->workers, now);
    start_gate_wait(&r->gate, r->base, now);
    free(now);
}

void client_run_follow_stages(struct client_run_state *r)
{
    r->stage = client_workers_stage(&r->workers);
    if (r->stage == CLIENT_DRAINED) {
        finish(r);
    } else if (r->stage >= CLIENT_CONNECTED && !r->started && !r->result->interrupted &&
               !r->result->gave_up) {
        if (is_deserted(r))
            client_run_stop(r);
        else if (r->settings->gate == NULL)
            start_load(r, clock_now_ns() + r->settings->settle_ns);
        else if (!r->gate.waiting && !r->result->start.missed)
            wait_at_gate(r);
    }
}

/* The end of the search is the end of the run.  All trials have been judged; if the last one
 * was not drained, this host may be minutes behind its load, and what is left of it is not sent. */
void client_run_look_at_search(struct client_run_state *r, uint64_t now_ns)
{
    struct client_sweep *sweep = r->settings->sweep;

    if (sweep == NULL || r->end_ns != PACER_NEVER || client_sweep_look(sweep, now_ns))
        return;
    r->end_ns = client_steer_end(&r->steer);
    if (!client_sweep_is_drained(sweep))
        client_workers_post(&r->workers, CLIENT_STOP, 0);
}

/* --- whether to go on opening --- */

void client_run_prepare_opening(struct client_run_state *r)
{
    const struct client_config *config = r->config;

    r->opens_all = client_config_opens_all(config);
    r->opening = (struct client_opening){
        .window =
            config->connect_window > config->n_workers ? config->connect_window : config->n_workers,
        .timeout_ns = config->connect_timeout_ns + config->timeout_ns,
    };
}

/* After the first window, the workers wait until a connection is usable: if none is, the others
 * would wait as long, window after window. */
static void look_at_first_window(struct client_run_state *r)
{
    /* read before the other one, which may be what settled it */
    const bool have_settled = client_workers_have_settled(&r->workers);

    if (client_workers_may_go_on(&r->workers)) {
        r->opens_all = true;
        client_workers_post(&r->workers, CLIENT_OPEN_ALL, 0);
    } else if (have_settled) {
        r->result->gave_up = true;
        client_run_stop(r);
    }
}

/* Whether the load waits for connections that are opened one window after the other, and no
 * schedule opens others later.  A later request for connections (--control, --find) opens those
 * that were left out. */
static bool awaits_windows(const struct client_config *config)
{
    return config->population.n == 0 && !config->on_demand &&
           config->connect_arrival == CLIENT_CONNECT_WINDOW;
}

/* A server that is full often keeps further connections half-open, each until it times out. */
static void look_at_last_windows(struct client_run_state *r, uint64_t now_ns)
{
    const uint64_t n_settled = CLIENT_WORKERS_GAUGE(&r->workers, n_settled);
    const uint64_t n_usable = CLIENT_WORKERS_GAUGE(&r->workers, n_ever_usable);

    if (!client_opening_is_futile(&r->opening, n_settled, n_usable, now_ns))
        return;
    r->result->n_futile = n_settled - r->opening.n_settled;
    client_workers_post(&r->workers, CLIENT_OPEN_NO_MORE, 0);
    if (!r->config->quiet)
        log_error("opening no more connections: none of the last %" PRIu64 " got an answer",
                  r->result->n_futile);
}

void client_run_look_at_opening(struct client_run_state *r, uint64_t now_ns)
{
    if (r->stage >= CLIENT_CONNECTED || r->result->interrupted || r->result->gave_up)
        return;
    if (!r->opens_all)
        look_at_first_window(r);
    else if (awaits_windows(r->config) && r->result->n_futile == 0)
        look_at_last_windows(r, now_ns);
}

void client_run_interrupt(struct client_run_state *r)
{
    r->result->interrupted = true;
    if (r->config->rows != NULL)
        rows_stop_waiting(r->config->rows);
    client_run_stop(r);
}
