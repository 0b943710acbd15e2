/* SPDX-License-Identifier: MIT
 * client_run: see client_run.h. */
#include "client_run.h"

#include "client_control.h"
#include "client_intervals.h"
#include "client_steer.h"
#include "client_worker.h"
#include "clock.h"
#include "complain.h"
#include "notify.h"
#include "progress.h"
#include "reopen.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* How often the queries in flight are looked at, to tell whether they grow through the run. */
#define LOOK_NS (20 * 1000000ull)

/* Intervals of the log and of what the progress line shows. */
#define TICK_NS 1000000000ull

struct run {
    struct client_config *config;
    const struct client_run_settings *settings;
    struct client_result *result;
    struct client_worker *workers;
    uint32_t n_started;
    struct event_base *base;
    struct event wake_event, look_event, tick_event, stats_event, signal_events[4];
    struct client_intervals intervals;
    struct client_steer steer;
    struct client_control control;
    _Atomic uint64_t spare_tuple;
    enum client_stage stage; /* the earliest of all workers */
    bool started, closing;
    uint64_t begin_ns, measure_ns, end_ns, stopped_ns;
    uint64_t early_sum, early_looks, late_sum, late_looks;
    struct progress progress;
};

static void post_all(struct run *r, enum client_message kind, uint64_t value)
{
    for (uint32_t i = 0; i < r->n_started; i++)
        if (worker_post(&r->workers[i].worker, (int)kind, value) != 0)
            complain("worker %u does not take messages", i);
}

static uint64_t sum_gauge(const struct run *r, size_t offset)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < r->n_started; i++)
        sum += tally_get((const tally_count *)((const char *)&r->workers[i] + offset));
    return sum;
}

static enum client_stage earliest_stage(const struct run *r)
{
    int earliest = CLIENT_DRAINED;

    for (uint32_t i = 0; i < r->n_started; i++) {
        int stage = atomic_load_explicit(&r->workers[i].stage, memory_order_acquire);

        if (stage < earliest)
            earliest = stage;
    }
    return (enum client_stage)earliest;
}

/* --- stages --- */

/* Of connections, than there are when the load begins. */
static bool more_may_come(const struct run *r)
{
    return r->config->reconnect || r->config->population.n > 0;
}

/* A worker none of whose connections came about leaves its part of the arrivals to the others,
 * unless they may come about yet. */
static void deal_arrivals(struct run *r)
{
    uint32_t n_loaders = 0;

    for (uint32_t i = 0; i < r->n_started; i++)
        r->workers[i].loader =
            more_may_come(r) || r->config->course != NULL || tally_get(&r->workers[i].n_live) > 0
                ? n_loaders++
                : r->n_started;
    for (uint32_t i = 0; i < r->n_started; i++)
        r->workers[i].n_loaders = n_loaders;
}

static void read_host(struct run *r, struct hoststat *host, struct netdev_counters *net)
{
    struct client_result *result = r->result;

    hoststat_read(host);
    if (result->has_interface)
        result->has_interface = netdev_read(result->interface, net) == 0;
}

static void start_load(struct run *r)
{
    const struct client_config *config = r->config;

    r->started = true;
    deal_arrivals(r);
    read_host(r, &r->result->host_loaded, &r->result->net_loaded);
    r->begin_ns = clock_now_ns() + r->settings->settle_ns;
    r->measure_ns = r->begin_ns + config->warmup_ns;
    r->end_ns =
        config->duration_ns == PACER_NEVER ? PACER_NEVER : r->measure_ns + config->duration_ns;
    r->result->loaded = true;
    r->intervals.previous_ns = r->intervals.last_ns = r->begin_ns - r->settings->settle_ns;
    client_steer_begin(&r->steer, r->n_started, r->begin_ns, r->end_ns);
    post_all(r, CLIENT_START, r->begin_ns);
    notify(NOTIFY_READY);
}

static void read_connections(const struct run *r, struct client_result *result)
{
    result->connections_asked = sum_gauge(r, offsetof(struct client_worker, population.n_asked));
    result->connections_wanted = sum_gauge(r, offsetof(struct client_worker, population.n_wanted));
    result->connections_live = sum_gauge(r, offsetof(struct client_worker, n_live));
    result->connections_half_open = sum_gauge(r, offsetof(struct client_worker, n_half_open));
}

/* The connections are still open, so that what the server has accepted can be compared. */
static void read_server(struct run *r)
{
    char error[CONTROL_SOCKET_ERROR_BYTES];

    if (r->settings->server_control != NULL &&
        server_side_read(&r->result->server_after, r->settings->server_control,
                         r->settings->control_token, error) != 0)
        complain("--server-control: %s", error);
}

static void finish(struct run *r)
{
    r->closing = true;
    notify(NOTIFY_STOPPING);
    read_host(r, &r->result->host_after, &r->result->net_after);
    hostfacts_read(&r->result->limits);
    r->result->has_sockets = sockdiag_count(&r->config->target, &r->result->sockets) == 0;
    read_connections(r, r->result);
    read_server(r);
    post_all(r, CLIENT_CLOSE, 0);
    event_base_loopbreak(r->base);
}

static void stop(struct run *r)
{
    r->stopped_ns = clock_now_ns();
    post_all(r, CLIENT_STOP, 0);
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;
    uint64_t wakeups;

    (void)what;
    if (read(fd, &wakeups, sizeof wakeups) < 0 || r->closing)
        return;
    r->stage = earliest_stage(r);
    if (r->stage == CLIENT_DRAINED) {
        finish(r);
    } else if (r->stage >= CLIENT_CONNECTED && !r->started && !r->result->interrupted) {
        if (more_may_come(r) || sum_gauge(r, offsetof(struct client_worker, n_live)) > 0)
            start_load(r);
        else
            stop(r);
    }
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
    struct run *r = arg;

    (void)what;
    if (r->result->interrupted)
        _exit(128 + number); /* asked twice: the report does not matter any more */
    r->result->interrupted = true;
    if (r->config->samples != NULL)
        samples_stop_waiting(r->config->samples);
    stop(r);
}

static void on_hangup(evutil_socket_t number, short what, void *arg)
{
    struct run *r = arg;

    if (reopen_is_hangup(r->settings->stats_in_place))
        on_signal(number, what, arg);
    else if (r->settings->reopen != NULL)
        r->settings->reopen(r->settings->arg);
}

/* --- control --- */

static enum client_state state_of(const struct run *r, uint64_t now_ns)
{
    if (!r->started)
        return CLIENT_RUN_CONNECTING;
    if (r->closing || now_ns >= r->end_ns)
        return CLIENT_RUN_DRAINING;
    return r->steer.paused ? CLIENT_RUN_PAUSED : CLIENT_RUN_RUNNING;
}

/* Values of connections are collected at the end alone, those of queries every other second. */
static void snapshot(void *context, struct client_result *result)
{
    struct run *r = context;
    const uint64_t now_ns = clock_now_ns(), until_ns = now_ns < r->end_ns ? now_ns : r->end_ns;

    *result = *r->result;
    result->state = state_of(r, now_ns);
    result->own_fd_tables = r->config->own_fd_tables;
    for (uint32_t i = 0; i < r->n_started; i++)
        tally_merge(&result->tally, &r->workers[i].tally);
    read_connections(r, result);
    read_host(r, &result->host_after, &result->net_after);
    result->in_flight = sum_gauge(r, offsetof(struct client_worker, in_flight));
    if (!r->started)
        return;
    result->load_ns = until_ns > r->begin_ns ? until_ns - r->begin_ns : 0;
    result->scheduled_ns = until_ns > r->measure_ns ? until_ns - r->measure_ns : 0;
    result->sent_ns = result->scheduled_ns;
    result->rate_now_qps = client_steer_rate_qps(&r->steer, now_ns);
    result->asked_qps = client_steer_mean_qps(&r->steer, until_ns);
    result->paused_ns = client_steer_paused_ns(&r->steer, until_ns);
}

/* As if the duration had been so long; before the load, as if interrupted. */
static void stop_by_request(void *context)
{
    struct run *r = context;

    if (r->started) {
        r->end_ns = client_steer_end(&r->steer);
    } else {
        r->result->interrupted = true;
        stop(r);
    }
}

static int open_control(struct run *r)
{
    r->control = (struct client_control){
        .steer = &r->steer,
        .about = r->settings->about,
        .snapshot = snapshot,
        .stop = stop_by_request,
        .run = r,
    };
    return client_control_start(&r->control, r->base, r->settings->control,
                                r->settings->control_token);
}

/* --- watching --- */

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;
    uint64_t now_ns = clock_now_ns(), quarter_ns, elapsed_ns;
    uint64_t in_flight;

    (void)fd;
    (void)what;
    if (!r->started || r->end_ns == PACER_NEVER || now_ns < r->measure_ns || now_ns >= r->end_ns)
        return;
    in_flight = sum_gauge(r, offsetof(struct client_worker, in_flight));
    quarter_ns = r->config->duration_ns / 4;
    elapsed_ns = now_ns - r->measure_ns;
    if (elapsed_ns >= quarter_ns && elapsed_ns < 2 * quarter_ns) {
        r->early_sum += in_flight;
        r->early_looks++;
    } else if (elapsed_ns >= 3 * quarter_ns) {
        r->late_sum += in_flight;
        r->late_looks++;
    }
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;

    (void)fd;
    (void)what;
    if (r->started && !r->closing)
        client_intervals_tick(&r->intervals, clock_now_ns());
}

/* Of the terminal; 80 where it does not say. */
static unsigned columns(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void show_progress(struct run *r, const struct tally *now, bool in_place)
{
    char *text = NULL;
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);

    if (out == NULL)
        return;
    progress_print(out, &r->progress, now);
    if (fclose(out) == 0 && in_place)
        progress_show_in_place(stderr, text, columns() - 1);
    else if (text != NULL)
        fprintf(stderr, "%s\n", text);
    free(text);
}

static void look_at_progress(struct run *r, bool in_place)
{
    struct progress *p = &r->progress;
    struct tally *now = calloc(1, sizeof *now);

    if (now == NULL)
        return;
    for (uint32_t i = 0; i < r->n_started; i++)
        tally_merge(now, &r->workers[i].tally);
    p->now_ns = clock_now_ns();
    p->live = sum_gauge(r, offsetof(struct client_worker, n_live));
    p->in_flight = sum_gauge(r, offsetof(struct client_worker, in_flight));
    p->response = &r->intervals.recent;
    p->begin_ns = r->started ? r->begin_ns : 0;
    if (r->started && r->config->loop == CLIENT_LOOP_OPEN && p->now_ns >= p->begin_ns)
        p->rate_qps = client_steer_rate_qps(&r->steer, p->now_ns);
    if (p->interface != NULL && netdev_read(p->interface, &p->net) != 0)
        p->interface = NULL;
    show_progress(r, now, in_place);
    free(now);
}

static void on_stats(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;

    (void)fd;
    (void)what;
    look_at_progress(r, r->settings->stats_in_place);
}

/* A line of its own, also with --quiet. */
static void on_snapshot(evutil_socket_t number, short what, void *arg)
{
    struct run *r = arg;

    (void)number;
    (void)what;
    if (r->settings->stats_in_place && r->settings->stats_interval_ns > 0)
        progress_show_in_place(stderr, NULL, 0);
    look_at_progress(r, false);
}

static int watch(struct run *r)
{
    static const struct {
        int number;
        event_callback_fn on;
    } signals[] = {
        {SIGINT, on_signal}, {SIGTERM, on_signal}, {SIGHUP, on_hangup}, {SIGUSR1, on_snapshot}};
    struct timeval look = clock_timeval(LOOK_NS), tick = clock_timeval(TICK_NS);
    struct timeval stats =
        clock_timeval(r->settings->stats_in_place ? TICK_NS : r->settings->stats_interval_ns);
    int failed = 0;

    event_assign(&r->wake_event, r->base, r->config->wake_fd, EV_READ | EV_PERSIST, on_wake, r);
    failed |= event_add(&r->wake_event, NULL);
    event_assign(&r->look_event, r->base, -1, EV_PERSIST, on_look, r);
    failed |= event_add(&r->look_event, &look);
    event_assign(&r->tick_event, r->base, -1, EV_PERSIST, on_tick, r);
    failed |= event_add(&r->tick_event, &tick);
    event_assign(&r->stats_event, r->base, -1, EV_PERSIST, on_stats, r);
    if (r->settings->stats_interval_ns > 0)
        failed |= event_add(&r->stats_event, &stats);
    for (int i = 0; i < 4; i++) {
        evsignal_assign(&r->signal_events[i], r->base, signals[i].number, signals[i].on, r);
        failed |= evsignal_add(&r->signal_events[i], NULL);
    }
    return failed;
}

/* --- collecting --- */

/* What was asked, or what had passed of it when the run was interrupted. */
static uint64_t measured_ns(const struct run *r)
{
    const uint64_t asked_ns = r->end_ns == PACER_NEVER    ? PACER_NEVER
                              : r->end_ns > r->measure_ns ? r->end_ns - r->measure_ns
                                                          : 0;
    uint64_t passed_ns;

    if (!r->started)
        return 0;
    if (!r->result->interrupted)
        return asked_ns;
    passed_ns = r->stopped_ns > r->measure_ns ? r->stopped_ns - r->measure_ns : 0;
    return passed_ns < asked_ns ? passed_ns : asked_ns;
}

/* From the first query on, the warm-up's included. */
static uint64_t load_ns(const struct run *r)
{
    const uint64_t end_ns = r->result->interrupted ? r->stopped_ns : r->end_ns;

    return r->started && end_ns > r->begin_ns ? end_ns - r->begin_ns : 0;
}

static void merge(struct run *r)
{
    struct client_result *result = r->result;
    uint64_t first_ns = UINT64_MAX, last_ns = 0, last_sent_ns = 0;

    client_intervals_finish(&r->intervals, clock_now_ns());
    result->log_failed = r->intervals.failed;
    result->own_fd_tables = true;
    result->push_least_ns = INT64_MAX;
    for (uint32_t i = 0; i < r->n_started; i++) {
        const struct client_worker *cw = &r->workers[i];

        tally_merge(&result->tally, &cw->tally);
        hist_merge(&result->metrics[CLIENT_CONNECT], &cw->connect_times);
        hist_merge(&result->metrics[CLIENT_HANDSHAKE], &cw->handshake_times);
        hist_merge(&result->metrics[CLIENT_MIN_RTT], &cw->min_rtts);
        if (cw->lives.places != NULL)
            hist_merge(&result->metrics[CLIENT_GAP], &cw->gaps);
        if (cw->tls != NULL && result->tls_version == NULL) {
            result->tls_version = cw->tls->version;
            result->tls_cipher = cw->tls->cipher;
        }
        if (cw->connect.first_ns < first_ns)
            first_ns = cw->connect.first_ns;
        if (cw->connect.last_established_ns > last_ns)
            last_ns = cw->connect.last_established_ns;
        if (cw->load.last_sent_ns > last_sent_ns)
            last_sent_ns = cw->load.last_sent_ns;
        if (cw->listen.least_ns < result->push_least_ns)
            result->push_least_ns = cw->listen.least_ns;
        result->own_fd_tables &= cw->worker.own_fd_table;
    }
    result->connect_elapsed_ns = last_ns > first_ns ? last_ns - first_ns : 0;
    result->scheduled_ns = measured_ns(r);
    result->load_ns = load_ns(r);
    result->asked_qps = r->settings->rate_qps;
    result->steered = r->steer.changed;
    if (r->steer.changed)
        result->asked_qps = client_steer_mean_qps(&r->steer, r->measure_ns + result->scheduled_ns);
    result->paused_ns = client_steer_paused_ns(&r->steer, r->measure_ns + result->scheduled_ns);
    result->sent_ns = result->scheduled_ns;
    if (last_sent_ns > r->measure_ns + result->scheduled_ns)
        result->sent_ns = last_sent_ns - r->measure_ns;
    /* a rate that grows has more in flight, and no queue for it */
    result->has_growth =
        r->early_looks > 0 && r->late_looks > 0 && schedule_is_constant(&r->steer.course.schedule);
    if (result->has_growth) {
        result->in_flight_early = r->early_sum / r->early_looks;
        result->in_flight_late = r->late_sum / r->late_looks;
    }
}

static int start_workers(struct run *r)
{
    for (uint32_t i = 0; i < r->config->n_workers; i++) {
        if (client_worker_start(&r->workers[i], r->config, i) != 0)
            return -1;
        r->n_started++;
    }
    return 0;
}

static void end_workers(struct run *r)
{
    for (uint32_t i = 0; i < r->n_started; i++)
        client_worker_join(&r->workers[i]);
}

static void print_connections(const struct run *r)
{
    FILE *out = r->settings->connections;

    fputs(CLIENT_RECORD_HEADER, out);
    for (uint32_t i = 0; i < r->n_started; i++)
        for (uint32_t c = 0; c < r->workers[i].n_conns; c++)
            if (r->config->course == NULL || r->workers[i].records[c].connections > 0)
                client_record_print(out, &r->workers[i].records[c],
                                    (uint64_t)r->workers[i].first_conn + c, r->progress.start_ns);
}

static int lead(struct run *r)
{
    int error;

    if (start_workers(r) != 0) {
        error = errno;
        post_all(r, CLIENT_CLOSE, 0);
        end_workers(r);
        errno = error;
        return -1;
    }
    r->intervals.workers = r->workers;
    r->intervals.n_workers = r->n_started;
    /* not before: the first workers would take the CPUs from those still being made */
    post_all(r, CLIENT_OPEN, clock_now_ns());
    event_base_dispatch(r->base);
    client_control_end(&r->control);
    if (r->settings->stats_in_place && r->settings->stats_interval_ns > 0)
        progress_show_in_place(stderr, NULL, 0);
    end_workers(r);
    if (r->settings->connections != NULL)
        print_connections(r);
    merge(r);
    return 0;
}

static void prepare_progress(struct run *r, uint64_t now_ns)
{
    const struct client_config *config = r->config;
    struct client_result *result = r->result;

    result->has_interface = netdev_towards(&config->target, result->interface) == 0;
    r->progress = (struct progress){
        .asked = config->n_at_begin,
        .listens = config->listens,
        .rate_qps = r->settings->rate_qps,
        .load_ns = client_config_load_ns(config),
        .start_ns = now_ns,
        .previous_ns = now_ns,
        .interface = result->has_interface ? result->interface : NULL,
    };
    if (result->has_interface)
        result->has_interface = netdev_read(result->interface, &r->progress.previous_net) == 0;
}

static int prepare(struct run *r)
{
    struct client_config *config = r->config;
    const uint64_t now_ns = clock_now_ns();

    r->result->connections_at_begin = config->n_at_begin;
    r->result->n_workers = config->n_workers;
    r->result->started_epoch_ns = now_ns + clock_realtime_offset_ns();
    hoststat_read(&r->result->host_before);
    prepare_progress(r, now_ns);
    atomic_init(&r->spare_tuple, config->n_connections);
    config->spare_tuple = &r->spare_tuple;
    config->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    r->workers = calloc(config->n_workers, sizeof *r->workers);
    client_steer_init(&r->steer, config, r->workers);
    config->course = r->settings->control != NULL ? &r->steer.course : NULL;
    r->base = event_base_new();
    for (int m = CLIENT_N_QUERY_METRICS; m < CLIENT_N_METRICS; m++)
        if (hist_init(&r->result->metrics[m]) != 0)
            return -1;
    if (client_intervals_init(&r->intervals, r->settings->interval_log, r->result->metrics,
                              now_ns) != 0)
        return -1;
    return config->wake_fd >= 0 && r->workers != NULL && r->base != NULL && watch(r) == 0 &&
                   (config->course == NULL || open_control(r) == 0)
               ? 0
               : -1;
}

static void release(struct run *r)
{
    client_control_end(&r->control);
    client_intervals_free(&r->intervals);
    for (uint32_t i = 0; i < r->n_started; i++)
        client_worker_free(&r->workers[i]);
    if (r->base != NULL)
        event_base_free(r->base);
    free(r->workers);
    if (r->config->wake_fd >= 0)
        close(r->config->wake_fd);
}

int client_run(struct client_config *config, const struct client_run_settings *settings,
               struct client_result *result)
{
    struct run r = {.config = config, .settings = settings, .result = result};
    int failed;

    memset(result, 0, sizeof *result);
    failed = prepare(&r) != 0 || lead(&r) != 0;
    release(&r);
    return failed ? -1 : 0;
}
