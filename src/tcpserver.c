/* SPDX-License-Identifier: MIT
 * tcpserver: listens on one port with one listener per thread and echoes, or answers pings.
 * parse -> plan -> listen -> start workers -> wait -> stop -> report. */
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/notify.h"
#include "base/output.h"
#include "base/reopen.h"
#include "base/shutdown.h"
#include "base/standard_streams.h"
#include "base/units.h"
#include "host/kernel_features.h"
#include "host/memory_watch.h"
#include "host/preflight_report.h"
#include "host/privileges.h"
#include "net/sock.h"
#include "server/control.h"
#include "server/listeners.h"
#include "server/opts.h"
#include "server/plan.h"
#include "server/report.h"
#include "server/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHORTAGE_TEXT_BYTES = 256 };
enum { EXIT_DONE = 0, EXIT_REPORT_LOST = 1, EXIT_USAGE = 2 };
enum { N_SIGNALS = 2 };

#define LOOK_NS (50 * 1000000ull)

struct server {
    struct server_opts opts;
    struct server_plan plan;
    struct server_listeners listeners;
    char address_text[SOCK_TEXT_BYTES];
    uint32_t n_started;
    struct server_worker *workers;
    const struct server_tally **tallies;
    struct server_result result;
    struct server_tally previous; /* at the last stats line */
    uint64_t begin_ns, previous_ns;
    struct event_base *base;
    struct memory_watch memory;
    bool memory_was_short; /* at the last look */
    struct event end_event, look_event, stats_event, signal_events[N_SIGNALS];
    struct control_socket control_socket;
    struct control_token control_token;
    struct server_control control;
    struct output json;
    bool stderr_is_terminal;
};

/* --- plan and listen --- */

static int check_plan(const struct server *s)
{
    char subject[64];

    snprintf(subject, sizeof subject, "--max-connections %" PRIu64, s->opts.max_connections);
    if (preflight_worst(&s->plan.preflight) == PREFLIGHT_STOP && !s->opts.force) {
        preflight_report_log(&s->plan.preflight, subject, PREFLIGHT_STOP);
        return -1;
    }
    if (!s->opts.quiet && s->opts.max_connections > 0)
        preflight_report_log(&s->plan.preflight, subject, PREFLIGHT_WARN);
    return 0;
}

static int print_plan(struct server *s)
{
    char title[128], count[UNITS_TEXT_BYTES];
    struct json j;

    snprintf(title, sizeof title, "%s connections accepted by %" PRIu32 " threads",
             units_format_count(count, s->opts.max_connections), s->plan.n_workers);
    if (s->json.stream == NULL) {
        preflight_report_text(stdout, title, &s->plan.preflight);
    } else {
        json_init(&j, s->json.stream);
        preflight_report_json_object(&j, "tcpserver", title, &s->plan.preflight);
    }
    if (output_close(&s->json, true) != 0 || output_flush_stdout() != 0)
        return EXIT_USAGE;
    return preflight_worst(&s->plan.preflight) == PREFLIGHT_STOP ? EXIT_USAGE : EXIT_DONE;
}

static int open_listeners(struct server *s)
{
    if (server_listeners_open(&s->listeners, &s->opts, s->plan.n_workers) != 0)
        return -1;
    sock_format(s->address_text, &s->listeners.address);
    return 0;
}

static int open_json(struct server *s)
{
    if (s->opts.json == NULL)
        return 0;
    if (output_open(&s->json, "json", s->opts.json) != 0)
        return -1;
    if (output_begin(&s->json) != 0)
        return log_error("--json: cannot write '%s': %s", s->opts.json, strerror(errno));
    return 0;
}

static int read_token(struct server *s)
{
    const char *file = s->opts.control_token;
    char error[CONTROL_SOCKET_ERROR_BYTES];

    if (file != NULL && control_token_read(&s->control_token, file, error) != 0)
        return log_error("--control-token: %s", error);
    return 0;
}

/* From here on all is made by, and for, whom the program runs as. */
static int drop_privileges(struct server *s)
{
    char error[PRIVILEGES_ERROR_BYTES];

    privileges_gain_none();
    if (s->opts.user != NULL && privileges_drop(&s->plan.user, error) != 0)
        return log_error("--user: %s", error);
    return 0;
}

static int open_control(struct server *s)
{
    const struct server_opts *o = &s->opts;
    char error[CONTROL_SOCKET_ERROR_BYTES];

    if (o->control != NULL &&
        control_socket_listen(&s->control_socket, o->control, o->control_token != NULL, error) != 0)
        return log_error("--control: %s", error);
    return 0;
}

/* --- figures --- */

static void collect(void *context)
{
    struct server *s = context;
    struct server_result *r = &s->result;

    memset(&r->total, 0, sizeof r->total);
    r->active = 0;
    for (uint32_t i = 0; i < s->n_started; i++) {
        server_tally_merge(&r->total, &s->workers[i].tally);
        r->active += server_tally_active(&s->workers[i].tally);
    }
    r->peak = atomic_load_explicit(&s->plan.config.n_peak, memory_order_relaxed);
    r->elapsed_ns = clock_now_ns() - s->begin_ns;
    host_counters_watch_memory(&r->before);
    host_counters_read(&r->now);
}

/* Says when it begins to refuse for want of memory, and when it accepts again. */
static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;
    char text[SHORTAGE_TEXT_BYTES];
    bool is_short;

    (void)fd;
    (void)what;
    memory_watch_look(&s->memory);
    is_short = memory_watch_is_short(&s->memory);
    if (is_short == s->memory_was_short)
        return;
    s->memory_was_short = is_short;
    memory_shortage_text(&s->memory.tightest, text, sizeof text);
    if (!s->opts.quiet)
        log_error("%s: %s",
                  is_short ? "memory is short, new connections are refused"
                           : "accepts connections again",
                  text);
}

static void on_stats(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;
    uint64_t now_ns = clock_now_ns();

    (void)fd;
    (void)what;
    collect(s);
    server_report_line(stderr, &s->result, &s->previous, now_ns - s->previous_ns);
    memcpy(&s->previous, &s->result.total, sizeof s->previous);
    s->previous_ns = now_ns;
}

/* In the place of what stood in the file; one object after the other on stdout and in a pipe. */
static void print_json(struct server *s)
{
    if (output_begin(&s->json) != 0)
        log_error("--json: cannot empty '%s': %s", s->opts.json, strerror(errno));
    server_report_json(s->json.stream, &s->result);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;

    (void)fd;
    (void)what;
    event_base_loopbreak(s->base);
}

/* The JSON goes on in a new file of the same name. */
static void on_hangup(evutil_socket_t number, short what, void *arg)
{
    struct server *s = arg;

    (void)what;
    if (reopen_is_hangup(s->stderr_is_terminal))
        shutdown_request(number);
    else if (s->json.stream != NULL && reopen(s->json.fd, s->opts.json, NULL) != 0)
        log_error("--json: cannot reopen '%s': %s", s->opts.json, strerror(errno));
}

static void on_snapshot(evutil_socket_t number, short what, void *arg)
{
    struct server *s = arg;

    (void)number;
    (void)what;
    collect(s);
    server_report_text(stderr, &s->result);
    if (s->json.stream != NULL) {
        print_json(s);
        output_flush(&s->json);
    }
}

/* --- run --- */

static int begin(struct server *s)
{
    if (check_plan(s) != 0 || server_plan_limit_sources(&s->plan, &s->opts) != 0 ||
        open_listeners(s) != 0 || read_token(s) != 0 || drop_privileges(s) != 0)
        return -1;
    return open_json(s) != 0 ? -1 : open_control(s);
}

static int watch(struct server *s)
{
    static const struct {
        int number;
        event_callback_fn on;
    } signals[N_SIGNALS] = {{SIGHUP, on_hangup}, {SIGUSR1, on_snapshot}};
    struct timeval look = clock_timeval(LOOK_NS);
    struct timeval stats = clock_timeval(s->opts.stats_interval_ns);
    int failed = 0;

    s->base = event_base_new();
    if (s->base == NULL)
        return -1;
    event_assign(&s->look_event, s->base, -1, EV_PERSIST, on_look, s);
    failed |= event_add(&s->look_event, &look);
    event_assign(&s->stats_event, s->base, -1, EV_PERSIST, on_stats, s);
    if (s->opts.stats_interval_ns > 0)
        failed |= event_add(&s->stats_event, &stats);
    failed |= shutdown_prepare();
    event_assign(&s->end_event, s->base, shutdown_fd(), EV_READ, on_end, s);
    failed |= event_add(&s->end_event, NULL);
    for (int i = 0; i < N_SIGNALS; i++) {
        evsignal_assign(&s->signal_events[i], s->base, signals[i].number, signals[i].on, s);
        failed |= evsignal_add(&s->signal_events[i], NULL);
    }
    return failed;
}

/* The loop has ended: signals find what was there before it. */
static void unwatch(struct server *s)
{
    for (int i = 0; i < N_SIGNALS; i++)
        evsignal_del(&s->signal_events[i]);
}

static void watch_memory(struct server *s)
{
    const struct memory_ends ends = {
        .server_connections = 1,
        .server_threads = s->plan.n_workers,
        .tls = s->plan.config.tls != NULL,
    };

    memory_watch_start(&s->memory, "/proc", &ends, MEMORY_WATCH_OF_SERVER);
    s->plan.config.memory = &s->memory;
}

static int start_workers(struct server *s)
{
    s->workers = calloc(s->plan.n_workers, sizeof *s->workers);
    s->tallies = calloc(s->plan.n_workers, sizeof *s->tallies);
    if (s->workers == NULL || s->tallies == NULL)
        return log_error("no memory");
    s->result.workers = s->tallies;
    for (uint32_t i = 0; i < s->plan.n_workers; i++) {
        s->tallies[i] = &s->workers[i].tally;
        if (server_worker_start(&s->workers[i], &s->plan.config, i, s->listeners.fds[i]) != 0)
            return log_error("cannot start thread %" PRIu32 ": %s", i, strerror(errno));
        s->n_started++;
        /* from here on the listener is the worker's; where that uses a copy, ours goes */
        if (s->workers[i].worker.own_fd_table)
            close(s->listeners.fds[i]);
    }
    return 0;
}

static int start_control(struct server *s)
{
    if (s->opts.control == NULL)
        return 0;
    s->control = (struct server_control){
        .base = s->base,
        .workers = s->workers,
        .n_workers = s->plan.n_workers,
        .result = &s->result,
        .collect = collect,
        .context = s,
    };
    if (server_control_start(&s->control, &s->control_socket, &s->control_token) != 0)
        return log_error("--control: %s", strerror(errno));
    return 0;
}

static void stop_workers(struct server *s)
{
    for (uint32_t i = 0; i < s->n_started; i++)
        worker_post(&s->workers[i].worker, SERVER_STOP, 0);
    for (uint32_t i = 0; i < s->n_started; i++)
        worker_join(&s->workers[i].worker);
}

/* With --max-connections the plan has told of the fd tables. */
static void warn_of_lacks(const struct server *s)
{
    kernel_features_warn(FEATURE_PROC | (s->opts.bind_given ? 0 : FEATURE_IPV6) |
                         (s->opts.max_connections > 0 ? 0 : FEATURE_FD_TABLES));
}

static void announce(const struct server *s)
{
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    if (s->opts.quiet)
        return;
    warn_of_lacks(s);
    fprintf(stderr, "tcpserver: listening on %s, %" PRIu32 " threads, room for %s connections\n",
            s->address_text, s->plan.n_workers,
            units_format_count(a, s->opts.max_connections > 0 ? s->opts.max_connections
                                                              : s->plan.room));
    if (s->opts.control != NULL)
        fprintf(stderr, "tcpserver: control at %s\n", s->opts.control);
    if (s->opts.verbose > 0)
        fprintf(stderr,
                "tcpserver: fd limit %s per %s; accept queue %" PRIu64
                " per thread of at most %s (net.core.somaxconn); libevent %s (%s)\n",
                units_format_known(b, s->plan.host.nofile),
                s->plan.config.own_fd_tables ? "thread" : "process, shared by all threads",
                s->opts.backlog, units_format_known(a, s->plan.host.somaxconn), event_get_version(),
                worker_backend());
}

static int report(struct server *s)
{
    if (!s->opts.quiet)
        server_report_text(stderr, &s->result);
    if (s->json.stream != NULL)
        print_json(s);
    return output_close(&s->json, true) == 0 ? EXIT_DONE : EXIT_REPORT_LOST;
}

static int serve(struct server *s)
{
    s->stderr_is_terminal = isatty(STDERR_FILENO) == 1;
    s->result.n_workers = s->plan.n_workers;
    s->result.has_tls = s->plan.config.tls != NULL;
    s->result.pushes = s->opts.push_rate_per_s > 0;
    s->result.version = TCPSCALER_VERSION;
    s->result.libevent = event_get_version();
    s->result.backend = worker_backend();
    s->result.address = s->address_text;
    s->result.options = server_opts_table();
    s->result.settings = &s->opts;
    output_drop_stderr(true); /* until the workers have ended */
    host_counters_read(&s->result.before);
    s->begin_ns = s->previous_ns = clock_now_ns();
    s->result.started_epoch_ns = s->begin_ns + clock_realtime_offset_ns();
    watch_memory(s);
    if (watch(s) != 0 || start_workers(s) != 0 || start_control(s) != 0) {
        stop_workers(s);
        return EXIT_USAGE;
    }
    announce(s);
    notify(NOTIFY_READY);
    event_base_dispatch(s->base);
    unwatch(s);
    notify(NOTIFY_STOPPING);
    server_control_end(&s->control);
    stop_workers(s);
    output_drop_stderr(false);
    collect(s);
    s->result.state = SERVER_ENDED;
    return report(s);
}

static void cleanup(struct server *s)
{
    if (s->base != NULL)
        event_base_free(s->base);
    memory_watch_end(&s->memory);
    server_listeners_free(&s->listeners);
    free(s->workers);
    free(s->tallies);
    server_plan_free(&s->plan);
}

int main(int argc, char **argv)
{
    static struct server s = {
        .json = OUTPUT_CLOSED,
        .control_socket = {.fd = -1},
        .memory = {.meminfo_fd = -1},
    };
    char error[OPTIONS_ERROR_BYTES];
    int code = EXIT_USAGE;

    standard_streams_open();
    signal(SIGPIPE, SIG_IGN);
    output_take_stderr();
    server_opts_table()->version = worker_version();
    switch (server_opts_parse(&s.opts, argc, argv, stdout, error)) {
    case OPTIONS_EXIT:
        return output_flush_stdout() == 0 ? EXIT_DONE : EXIT_USAGE;
    case OPTIONS_USAGE:
        log_error("%s", error);
        return EXIT_USAGE;
    case OPTIONS_RUN:
        break;
    }
    if (server_plan_make(&s.plan, &s.opts) == 0) {
        if (s.opts.plan)
            code = open_json(&s) == 0 ? print_plan(&s) : EXIT_USAGE;
        else if (begin(&s) == 0)
            code = serve(&s);
    }
    control_socket_close(&s.control_socket);
    cleanup(&s);
    return code;
}
