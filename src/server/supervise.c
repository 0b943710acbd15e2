/* SPDX-License-Identifier: MIT
 * server_supervise: see server/supervise.h. */
#include "server/supervise.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/shutdown.h"
#include "base/text_stream.h"
#include "base/thread_start.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTAGE_TEXT_BYTES = 256 };

#define LOOK_NS (50 * UNITS_NS_PER_MS)

void server_supervise_collect(void *context)
{
    struct server *s = context;
    struct server_result *r = &s->result;

    memset(&r->total, 0, sizeof r->total);
    r->active = 0;
    r->n_workers = s->workers.n;
    r->workers = s->workers.tallies;
    for (uint32_t i = 0; i < r->n_workers; i++) {
        server_tally_merge(&r->total, r->workers[i]);
        r->active += server_tally_active(r->workers[i]);
    }
    r->peak = atomic_load_explicit(&s->plan.config.n_peak, memory_order_relaxed);
    r->elapsed_ns = clock_now_ns() - s->begin_ns;
    host_counters_watch_memory(&r->before);
    host_counters_read(&r->now);
}

/* Memory pressure caused in another network namespace is visible only while it lasts. */
static void look_for_pressure(struct server *s)
{
    const uint64_t now_ns = clock_now_ns();

    if (now_ns - s->pressure_ns < UNITS_NS_PER_S)
        return;
    s->pressure_ns = now_ns;
    host_counters_watch_memory(&s->result.before);
}

static void put_rows(struct server *s)
{
    struct output *out = &s->connections;

    if (out->stream == NULL)
        return;
    if (output_put_rest(out))
        server_listing_put(&s->listing, out);
    output_say_lost(out, out->error, "rows", true);
}

static void put_json_rest(struct server *s)
{
    struct output *out = &s->json;

    if (out->stream == NULL)
        return;
    (void)output_put_rest(out);
    output_say_lost(out, out->error, "results", true);
}

/* Logs when connections are first refused because memory is short, and when they are accepted
 * again. */
static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;
    char text[SHORTAGE_TEXT_BYTES];
    bool is_short;

    (void)fd;
    (void)what;
    server_workers_look(&s->workers);
    look_for_pressure(s);
    put_rows(s);
    put_json_rest(s);
    memory_watch_look(&s->memory);
    is_short = memory_watch_is_short(&s->memory);
    if (is_short == s->memory_was_short)
        return;
    s->memory_was_short = is_short;
    memory_shortage_text(&s->memory.tightest, text, sizeof text);
    if (!s->opts.quiet)
        log_error("%s: %s",
                  is_short ? "low memory, refusing new connections" : "accepting connections again",
                  text);
}

static void on_stats(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;
    uint64_t now_ns = clock_now_ns();

    (void)fd;
    (void)what;
    server_supervise_collect(s);
    server_report_line(log_stream(), &s->result, &s->previous, now_ns - s->previous_ns);
    memcpy(&s->previous, &s->result.total, sizeof s->previous);
    s->previous_ns = now_ns;
}

/* Replaces the last result with a new one; on stdout and pipes, appends it. */
static void put_json(struct server *s)
{
    struct text_stream t;
    size_t n_bytes;
    char *text;

    if (!output_put_rest(&s->json)) {
        log_error("--json: the reader of '%s' has not read the last result", s->opts.json);
        return;
    }
    if (text_stream_open(&t) == 0)
        server_report_json(t.out, &s->result);
    text = text_stream_close(&t, &n_bytes);
    if (text == NULL)
        log_error("--json: out of memory");
    else
        (void)output_put_document(&s->json, text, n_bytes);
}

static void on_worker_wanted(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;

    (void)fd;
    (void)what;
    if (!server_workers_grow(&s->workers, s->result.state == SERVER_PAUSED))
        return;
    s->memory.ends.server_threads = s->workers.n;
    if (s->opts.verbose > 0)
        log_error("thread %" PRIu32 " started: the fd tables of all others are full",
                  s->workers.n - 1);
}

int server_supervise_workers(struct server *s)
{
    const struct server_overflow *o = &s->plan.config.overflow;

    if (!server_overflow_is_open(o))
        return 0;
    event_assign(&s->grow_event, s->base, o->wanted_fd, EV_READ | EV_PERSIST, on_worker_wanted, s);
    if (event_add(&s->grow_event, NULL) == 0)
        return 0;
    return log_error("cannot start: %s%s", strerror(errno), thread_start_hint(errno));
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;

    (void)fd;
    (void)what;
    event_base_loopbreak(s->base);
}

/* Continues the outputs in new files of the same names. */
static void on_hangup(evutil_socket_t number, short what, void *arg)
{
    struct server *s = arg;

    (void)what;
    if (shutdown_is_hangup()) {
        shutdown_request(number);
        return;
    }
    output_reopen(&s->json, NULL);
    output_reopen(&s->connections, SERVER_LISTING_HEADER);
}

static void on_snapshot(evutil_socket_t number, short what, void *arg)
{
    struct server *s = arg;

    (void)number;
    (void)what;
    server_supervise_collect(s);
    server_report_text(log_stream(), &s->result);
    if (s->json.stream != NULL)
        put_json(s);
}

int server_supervise_begin(struct server *s)
{
    static const struct {
        int number;
        event_callback_fn on;
    } signals[SERVER_N_SIGNALS] = {{SIGHUP, on_hangup}, {SIGUSR1, on_snapshot}};
    struct timeval look = clock_timeval(LOOK_NS);
    struct timeval stats = clock_timeval(s->opts.stats_interval_ns);
    int failed = 0;

    s->base = event_base_new();
    if (s->base == NULL)
        return log_error("cannot start: %s%s", strerror(errno), thread_start_hint(errno));
    event_assign(&s->look_event, s->base, -1, EV_PERSIST, on_look, s);
    failed |= event_add(&s->look_event, &look);
    event_assign(&s->stats_event, s->base, -1, EV_PERSIST, on_stats, s);
    if (s->opts.stats_interval_ns > 0)
        failed |= event_add(&s->stats_event, &stats);
    event_assign(&s->end_event, s->base, shutdown_fd(), EV_READ, on_end, s);
    failed |= event_add(&s->end_event, NULL);
    for (int i = 0; i < SERVER_N_SIGNALS; i++) {
        evsignal_assign(&s->signal_events[i], s->base, signals[i].number, signals[i].on, s);
        failed |= evsignal_add(&s->signal_events[i], NULL);
    }
    shutdown_deliver();
    if (failed == 0)
        return 0;
    return log_error("cannot watch signals and timers: %s%s", strerror(errno),
                     thread_start_hint(errno));
}

void server_supervise_end(struct server *s)
{
    shutdown_hold();
    for (int i = 0; i < SERVER_N_SIGNALS; i++)
        evsignal_del(&s->signal_events[i]);
}
