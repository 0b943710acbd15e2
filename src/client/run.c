/* SPDX-License-Identifier: MIT
 * client_run: see client/run.h. */
#include "client/run.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/shutdown.h"
#include "base/thread_start.h"
#include "base/units.h"
#include "client/run_progress.h"
#include "client/run_result.h"
#include "client/run_stages.h"
#include "client/run_state.h"
#include "client/start_gate.h"
#include "client/sweep.h"
#include "host/watch/watch_thread.h"
#include "net/datagrams.h"
#include "net/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Sampling interval of the queries in flight, to detect growth during the run. */
#define LOOK_NS (20 * UNITS_NS_PER_MS)

/* Interval of the log and of the progress line's response times. */
#define TICK_NS UNITS_NS_PER_S

/* --- control port --- */

/* Ends the run as if the duration had been shorter; before the load, as if interrupted. */
static void stop_by_request(void *context)
{
    struct client_run_state *r = context;

    if (r->started && clock_now_ns() >= r->begin_ns) { /* not in the settle time */
        if (r->settings->sweep != NULL)
            client_sweep_stop(r->settings->sweep);
        r->end_ns = client_steer_end(&r->steer);
    } else {
        r->result->interrupted = true;
        client_run_stop(r);
    }
}

static int open_control(struct client_run_state *r)
{
    r->control = (struct client_control){
        .steer = &r->steer,
        .about = r->settings->about,
        .searches = r->settings->sweep != NULL,
        .snapshot = client_run_snapshot,
        .stop = stop_by_request,
        .run = r,
    };
    return client_control_start(&r->control, r->base, r->settings->control,
                                r->settings->control_token);
}

/* --- events --- */

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    struct client_run_state *r = arg;
    uint64_t wakeups;

    (void)what;
    if (read(fd, &wakeups, sizeof wakeups) >= 0 && !r->closing)
        client_run_follow_stages(r);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    client_run_interrupt(arg);
}

static void on_hangup(evutil_socket_t number, short what, void *arg)
{
    struct client_run_state *r = arg;

    (void)what;
    if (shutdown_is_hangup())
        shutdown_request(number);
    else if (r->settings->reopen != NULL)
        r->settings->reopen(r->settings->arg);
}

static void look_at_memory(struct client_run_state *r)
{
    char *shortage = r->result->shortage;

    memory_watch_look(&r->memory);
    if (!memory_watch_was_short(&r->memory) || shortage[0] != '\0')
        return;
    memory_shortage_text(&r->memory.tightest, shortage, sizeof r->result->shortage);
    if (!r->config->quiet)
        log_error("low memory, opening no more connections: %s", shortage);
}

static void look_at_load(struct client_run_state *r, uint64_t now_ns)
{
    uint64_t elapsed_ns;

    if (r->started && now_ns < r->end_ns && !r->result->interrupted) {
        r->result->connections_live_loaded = CLIENT_WORKERS_GAUGE(&r->workers, n_live);
        client_workers_class_live(&r->workers, r->result->class_live_loaded);
    }
    if (!r->started || r->end_ns == PACER_NEVER || now_ns < r->measure_ns)
        return;
    elapsed_ns = now_ns - r->measure_ns;
    trend_timed_out(&r->trend,
                    CLIENT_WORKERS_GAUGE(&r->workers, tally.queries[TALLY_MEASURED].timeout),
                    elapsed_ns, r->config->timeout_ns);
    if (now_ns < r->end_ns)
        trend_add_sample(&r->trend, CLIENT_WORKERS_GAUGE(&r->workers, in_flight), elapsed_ns,
                         r->config->duration_ns);
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct client_run_state *r = arg;
    const uint64_t now_ns = clock_now_ns();

    (void)fd;
    (void)what;
    look_at_memory(r);
    if (!r->started)
        client_run_look_at_opening(r, now_ns);
    else
        client_run_look_at_search(r, now_ns);
    look_at_load(r, now_ns);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct client_run_state *r = arg;

    (void)fd;
    (void)what;
    host_counters_watch_memory(&r->result->host_before);
    if (r->settings->look != NULL)
        r->settings->look(r->settings->arg);
    if (r->started && !r->closing)
        client_intervals_tick(&r->intervals, clock_now_ns());
}

static void on_stats(evutil_socket_t fd, short what, void *arg)
{
    struct client_run_state *r = arg;

    (void)fd;
    (void)what;
    client_run_show_progress(r, r->settings->stats_in_place);
}

/* Prints a separate line, even with --quiet. */
static void on_snapshot(evutil_socket_t number, short what, void *arg)
{
    struct client_run_state *r = arg;

    (void)number;
    (void)what;
    if (r->settings->stats_in_place && r->settings->stats_interval_ns > 0)
        progress_show_in_place(log_stream(), NULL, 0);
    client_run_show_progress(r, false);
}

static int watch(struct client_run_state *r)
{
    static const struct {
        int number;
        event_callback_fn on;
    } signals[CLIENT_RUN_N_SIGNALS] = {{SIGHUP, on_hangup}, {SIGUSR1, on_snapshot}};
    struct timeval look = clock_timeval(LOOK_NS), tick = clock_timeval(TICK_NS);
    struct timeval stats =
        clock_timeval(r->settings->stats_in_place ? TICK_NS : r->settings->stats_interval_ns);
    int failed = 0;

    event_assign(&r->end_event, r->base, shutdown_fd(), EV_READ, on_end, r);
    failed |= event_add(&r->end_event, NULL);
    event_assign(&r->wake_event, r->base, r->config->wake_fd, EV_READ | EV_PERSIST, on_wake, r);
    failed |= event_add(&r->wake_event, NULL);
    event_assign(&r->look_event, r->base, -1, EV_PERSIST, on_look, r);
    failed |= event_add(&r->look_event, &look);
    event_assign(&r->tick_event, r->base, -1, EV_PERSIST, on_tick, r);
    failed |= event_add(&r->tick_event, &tick);
    event_assign(&r->stats_event, r->base, -1, EV_PERSIST, on_stats, r);
    if (r->settings->stats_interval_ns > 0)
        failed |= event_add(&r->stats_event, &stats);
    for (int i = 0; i < CLIENT_RUN_N_SIGNALS; i++) {
        evsignal_assign(&r->signal_events[i], r->base, signals[i].number, signals[i].on, r);
        failed |= evsignal_add(&r->signal_events[i], NULL);
    }
    shutdown_deliver();
    return failed;
}

/* Restores the signal handlers after the loop has ended. */
static void unwatch(struct client_run_state *r)
{
    shutdown_hold();
    for (int i = 0; i < CLIENT_RUN_N_SIGNALS; i++)
        evsignal_del(&r->signal_events[i]);
}

/* --- the whole run --- */

/* Called by the thread that samples the server: reads the workers' counters only. */
static void read_load(void *context, struct watch_load *load)
{
    const struct client_run_state *r = context;

    *load = (struct watch_load){
        .connections = CLIENT_WORKERS_GAUGE(&r->workers, n_live),
        .queries = CLIENT_WORKERS_GAUGE(&r->workers, tally.queries[TALLY_PROBE].sent) +
                   CLIENT_WORKERS_GAUGE(&r->workers, tally.queries[TALLY_WARMUP].sent) +
                   CLIENT_WORKERS_GAUGE(&r->workers, tally.queries[TALLY_MEASURED].sent),
        .has_begun = atomic_load_explicit(&r->has_load, memory_order_relaxed),
    };
}

/* The run goes on without it. */
static void watch_server(struct client_run_state *r)
{
    struct watch_thread *watch = r->settings->watch;

    if (watch == NULL)
        return;
    watch->load = read_load;
    watch->context = r;
    if (watch_thread_start(watch) != 0)
        log_error("--watch: cannot start a thread: %s%s", strerror(errno),
                  thread_start_hint(errno));
}

static int begin_outputs(struct client_run_state *r)
{
    if (r->settings->begin == NULL || r->settings->begin(r->settings->arg) == 0)
        return 0;
    client_workers_cancel(&r->workers);
    return -1;
}

static int lead(struct client_run_state *r)
{
    if (client_workers_start(&r->workers, r->config) != 0 || begin_outputs(r) != 0)
        return -1;
    watch_server(r);
    /* not earlier: the first workers would take CPU time from those still being created */
    client_workers_post(&r->workers, CLIENT_OPEN, clock_now_ns());
    worker_run_loop(r->base, 0);
    if (r->settings->watch != NULL)
        watch_thread_stop(r->settings->watch); /* it reads the workers' counters */
    unwatch(r);
    client_control_end(&r->control);
    if (r->settings->stats_in_place && r->settings->stats_interval_ns > 0)
        progress_show_in_place(log_stream(), NULL, 0);
    client_workers_join(&r->workers);
    if (r->settings->connections != NULL)
        client_workers_print_connections(&r->workers, r->settings->connections,
                                         r->config->targets != NULL || r->config->on_demand,
                                         r->progress.start_ns);
    client_run_collect(r);
    client_run_try_server(r);
    return 0;
}

static int prepare(struct client_run_state *r)
{
    struct client_config *config = r->config;
    const uint64_t now_ns = clock_now_ns();

    r->result->connections_at_begin =
        config->population.n > 0 ? (uint64_t)(schedule_rate_qps(&config->population, 0) + 0.5)
                                 : config->n_at_begin;
    r->result->n_workers = config->n_workers;
    if (r->settings->gate != NULL)
        start_gate_init(&r->result->start);
    r->result->started_epoch_ns = now_ns + clock_realtime_offset_ns();
    host_counters_read(&r->result->host_before);
    client_accept_queue_read(&r->result->queue_before, config);
    client_run_prepare_progress(r, now_ns);
    atomic_init(&r->spare_tuple, config->n_connections);
    config->spare_tuple = &r->spare_tuple;
    config->knows_drops = config->socket.datagrams && datagrams_find_dropped() == 0;
    for (uint32_t i = 0; i < CLIENT_CLASS_MOST; i++)
        atomic_init(&r->fallback_tuples[i], 0);
    config->fallback_tuples = r->fallback_tuples;
    memory_watch_start(&r->memory, "/proc", &config->memory_ends, MEMORY_WATCH_OF_CLIENT);
    config->memory = &r->memory;
    config->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (config->wake_fd < 0)
        return -1;
    client_run_prepare_opening(r);
    client_steer_init(&r->steer, config, &r->workers);
    config->targets =
        r->settings->control != NULL || r->settings->sweep != NULL ? &r->steer.targets : NULL;
    r->base = event_base_new();
    if (r->base == NULL)
        return -1;
    for (int m = CLIENT_N_QUERY_METRICS; m < CLIENT_N_METRICS; m++)
        if (hist_init(&r->result->metrics[m]) != 0)
            return -1;
    if (losses_init(&r->result->losses) != 0 ||
        (config->keepalive && timeout_counts_init(&r->result->timeouts) != 0))
        return -1;
    if (client_intervals_init(&r->intervals, &r->workers, r->settings->interval_log,
                              r->result->metrics, r->result->batches, now_ns) != 0 ||
        client_intervals_add_classes(&r->intervals, config->classes, config->n_classes,
                                     r->result->class_times) != 0)
        return -1;
    if (r->settings->sweep != NULL &&
        client_sweep_init(r->settings->sweep, config, &r->steer, &r->workers, &r->intervals) != 0)
        return -1;
    r->result->sweep = r->settings->sweep;
    return watch(r) == 0 && (r->settings->control == NULL || open_control(r) == 0) ? 0 : -1;
}

static void release(struct client_run_state *r)
{
    client_control_end(&r->control);
    client_intervals_free(&r->intervals);
    memory_watch_end(&r->memory);
    client_workers_free(&r->workers);
    if (r->base != NULL)
        event_base_free(r->base);
    if (r->config->wake_fd >= 0)
        close(r->config->wake_fd);
}

int client_run(struct client_config *config, const struct client_run_settings *settings,
               struct client_result *result)
{
    struct client_run_state *r = calloc(1, sizeof *r); /* 46 kB are too many for a small stack */
    int failed;

    memset(result, 0, sizeof *result);
    if (r == NULL)
        return -1;
    r->config = config;
    r->settings = settings;
    r->result = result;
    failed = prepare(r) != 0 || lead(r) != 0;
    release(r);
    free(r);
    return failed ? -1 : 0;
}
