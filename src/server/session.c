/* SPDX-License-Identifier: MIT
 * server_session: see server/session.h. */
#include "server/session.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/messages.h"
#include "base/notify.h"
#include "base/shutdown.h"
#include "base/units.h"
#include "host/kernel_features.h"
#include "host/preflight_report.h"
#include "host/privileges.h"
#include "server/supervise.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* --- plan and listeners --- */

static int check_plan(const struct server *s)
{
    char subject[64];

    if (s->opts.max_connections > 0)
        snprintf(subject, sizeof subject, "--max-connections %" PRIu64, s->opts.max_connections);
    else
        snprintf(subject, sizeof subject, "%" PRIu32 " %s", s->plan.n_workers,
                 units_noun(s->plan.n_workers, "thread", "threads"));
    if (preflight_worst(&s->plan.preflight) == PREFLIGHT_STOP && !s->opts.force) {
        preflight_report_log(&s->plan.preflight, subject, PREFLIGHT_STOP);
        return -1;
    }
    if (!s->opts.quiet && s->opts.max_connections > 0)
        preflight_report_log(&s->plan.preflight, subject, PREFLIGHT_WARN);
    return 0;
}

static int open_json(struct server *s)
{
    return output_open_document(&s->json, "json", s->opts.json) != 0 ? -1 : output_begin(&s->json);
}

static int open_outputs(struct server *s)
{
    return output_open_document(&s->json, "json", s->opts.json) != 0
               ? -1
               : output_open_log(&s->connections, "connections-out", s->opts.connections_out);
}

/* Called when nothing can prevent the start any more: until then, files of an earlier run stay as
 * they are. */
static int begin_outputs(struct server *s)
{
    if (output_begin(&s->json) != 0 || output_begin(&s->connections) != 0)
        return -1;
    if (s->connections.stream != NULL && server_listing_begin(&s->connections) != 0)
        return log_error("out of memory");
    return 0;
}

/* Returns whether more threads than planned may be started. */
static bool is_open_ended(const struct server *s)
{
    return s->opts.max_connections == 0 && s->plan.most_workers > s->plan.n_workers;
}

static void name_plan(const struct server *s, char *title, size_t n_bytes)
{
    const char *threads = units_noun(s->plan.n_workers, "thread", "threads");
    char count[UNITS_TEXT_BYTES];

    if (s->opts.max_connections > 0)
        snprintf(title, n_bytes, "%s %s accepted by %" PRIu32 " %s",
                 units_format_count(count, s->opts.max_connections),
                 units_noun(s->opts.max_connections, "connection", "connections"),
                 s->plan.n_workers, threads);
    else
        snprintf(title, n_bytes, "room for %s %s: %" PRIu32 " %s%s",
                 units_format_count(count, s->plan.room),
                 units_noun(s->plan.room, "connection", "connections"), s->plan.n_workers, threads,
                 is_open_ended(s) ? ", more when their fd tables are full" : "");
}

static int read_token(struct server *s)
{
    const char *file = s->opts.control_token;
    char error[CONTROL_SOCKET_ERROR_BYTES];

    if (file != NULL && control_token_read(&s->control_token, file, error) != 0)
        return log_error("--control-token: %s", error);
    return 0;
}

int server_session_print_plan(struct server *s)
{
    char title[128];

    if (!s->opts.quiet)
        kernel_features_warn(FEATURE_PROC); /* a limit that is unknown always fits */
    name_plan(s, title, sizeof title);
    if (server_listeners_resolve(&s->listeners.address, &s->opts) != 0 || read_token(s) != 0 ||
        open_json(s) != 0 ||
        preflight_report_plan(&s->json, "tcpserver", title, &s->plan.preflight) != 0)
        return SERVER_EXIT_USAGE;
    return preflight_worst(&s->plan.preflight) == PREFLIGHT_STOP ? SERVER_EXIT_USAGE
                                                                 : SERVER_EXIT_DONE;
}

static int open_listeners(struct server *s)
{
    if (server_listeners_open(&s->listeners, &s->opts, s->plan.n_listeners) != 0)
        return -1;
    sock_format(s->address_text, &s->listeners.address);
    return 0;
}

/* From here on everything is created by and for the user of --user. */
static int drop_privileges(struct server *s)
{
    char error[PRIVILEGES_ERROR_BYTES];

    privileges_forbid_gain();
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

/* --- run --- */

static int begin(struct server *s)
{
    if (check_plan(s) != 0 || server_plan_limit_sources(&s->plan, &s->opts) != 0 ||
        open_listeners(s) != 0 || read_token(s) != 0 || drop_privileges(s) != 0)
        return -1;
    if (shutdown_catch() != 0)
        return log_error("cannot handle signals: %s", strerror(errno));
    return open_outputs(s) != 0 || open_control(s) != 0 ? -1 : 0;
}

static void watch_memory(struct server *s)
{
    const struct memory_ends ends = {
        .server_connections = 1,
        .server_threads = s->plan.n_workers,
        .tls = s->plan.config.tls != NULL,
        .counts_sources = s->opts.max_per_source > 0,
        .closes_idle = s->opts.idle_timeout_ns > 0,
    };

    memory_watch_start(&s->memory, "/proc", &ends, MEMORY_WATCH_OF_SERVER);
    s->plan.config.memory = &s->memory;
}

static int start_workers(struct server *s)
{
    if (server_workers_start(&s->workers, &s->plan.config, &s->listeners, s->plan.n_workers,
                             s->plan.most_workers) != 0)
        return -1;
    return server_supervise_workers(s);
}

static int start_control(struct server *s)
{
    if (s->opts.control == NULL)
        return 0;
    s->control = (struct server_control){
        .base = s->base,
        .workers = &s->workers,
        .result = &s->result,
        .collect = server_supervise_collect,
        .context = s,
    };
    if (server_control_start(&s->control, &s->control_socket, &s->control_token) != 0)
        return log_error("--control: %s", strerror(errno));
    return 0;
}

/* With --max-connections the plan has reported the fd tables. */
static void warn_of_missing_features(const struct server *s)
{
    kernel_features_warn(FEATURE_PROC | (s->opts.bind_given ? 0 : FEATURE_IPV6) |
                         (s->opts.max_connections > 0 ? 0 : FEATURE_FD_TABLES));
}

static void show_details(const struct server *s)
{
    char files[UNITS_TEXT_BYTES], backlog[UNITS_TEXT_BYTES], most[UNITS_TEXT_BYTES];
    char limit[UNITS_TEXT_BYTES + 32] = "";

    if (s->plan.host.somaxconn != HOST_LIMITS_UNKNOWN)
        snprintf(limit, sizeof limit, ", at most %s (net.core.somaxconn)",
                 units_format_count(most, s->plan.host.somaxconn));
    fprintf(log_stream(),
            "%s: fd limit %s per %s; %" PRIu32 " %s, accept queue %s each%s; libevent %s (%s)\n",
            program_invocation_short_name, units_format_known(files, s->plan.host.nofile),
            s->plan.config.own_fd_tables ? "thread" : "process, shared by all threads",
            s->plan.n_listeners,
            units_noun(s->plan.n_listeners, "listening socket", "listening sockets"),
            units_format_count(backlog, s->opts.backlog), limit, event_get_version(),
            worker_backend());
}

static void announce(const struct server *s)
{
    const uint64_t room = s->opts.max_connections > 0 ? s->opts.max_connections : s->plan.room;
    char text[UNITS_TEXT_BYTES];

    if (s->opts.quiet)
        return;
    warn_of_missing_features(s);
    fprintf(log_stream(), "%s: listening on %s, %" PRIu32 " %s%s, room for %s %s\n",
            program_invocation_short_name, s->address_text, s->plan.n_workers,
            units_noun(s->plan.n_workers, "thread", "threads"),
            is_open_ended(s) ? " (more when their fd tables are full)" : "",
            units_format_count(text, room), units_noun(room, "connection", "connections"));
    if (s->opts.control != NULL)
        fprintf(log_stream(), "%s: control at %s\n", program_invocation_short_name,
                s->opts.control);
    if (s->opts.verbose > 0)
        show_details(s);
}

/* Returns 0, or -1 after a line on stderr if rows are missing. */
static int close_connections(struct server *s)
{
    int failed = 0;

    if (s->connections.stream == NULL)
        return 0;
    server_listing_put(&s->listing, &s->connections);
    if (s->listing.n_lost > 0)
        failed =
            log_error("--connections-out: %" PRIu64 " %s missing: too many waited to be written",
                      s->listing.n_lost, units_noun(s->listing.n_lost, "row is", "rows are"));
    return output_close(&s->connections) != 0 ? -1 : failed;
}

static int report(struct server *s)
{
    const int failed = close_connections(s);

    if (!s->opts.quiet)
        server_report_text(log_stream(), &s->result);
    if (s->json.stream != NULL) {
        (void)output_begin(&s->json);
        server_report_json(s->json.stream, &s->result);
    }
    return output_close(&s->json) == 0 && failed == 0 ? SERVER_EXIT_DONE : SERVER_EXIT_REPORT_LOST;
}

static int serve(struct server *s)
{
    s->result.has_tls = s->plan.config.tls != NULL;
    s->result.pushes = s->opts.push_rate_per_s > 0;
    s->result.has_headers = s->opts.proxy;
    s->result.version = TCPSCALER_VERSION;
    s->result.libevent = event_get_version();
    s->result.backend = worker_backend();
    s->result.address = s->address_text;
    s->result.options = server_opts_table();
    s->result.settings = &s->opts;
    messages_set_wait(MESSAGES_NEVER); /* until the workers have ended */
    host_counters_read(&s->result.before);
    s->begin_ns = s->previous_ns = clock_now_ns();
    s->result.started_epoch_ns = s->begin_ns + clock_realtime_offset_ns();
    watch_memory(s);
    if (s->connections.stream != NULL)
        s->plan.config.listing = &s->listing;
    if (server_supervise_begin(s) != 0 || start_workers(s) != 0 || start_control(s) != 0 ||
        begin_outputs(s) != 0) {
        server_control_end(&s->control);
        server_workers_stop(&s->workers);
        return SERVER_EXIT_USAGE;
    }
    announce(s);
    notify(NOTIFY_READY);
    worker_run_loop(s->base, 0);
    server_supervise_end(s);
    notify(NOTIFY_STOPPING);
    server_control_end(&s->control);
    server_workers_stop(&s->workers);
    messages_set_wait(MESSAGES_UNTIL_SHUTDOWN);
    server_supervise_collect(s);
    s->result.state = SERVER_ENDED;
    return report(s);
}

int server_session_run(struct server *s)
{
    server_listing_init(&s->listing);
    if (begin(s) == 0)
        return serve(s);
    return shutdown_was_requested() ? SERVER_EXIT_DONE : SERVER_EXIT_USAGE;
}

void server_session_free(struct server *s)
{
    control_socket_close(&s->control_socket);
    output_withdraw(&s->json);
    output_withdraw(&s->connections);
    if (s->base != NULL)
        event_base_free(s->base);
    memory_watch_end(&s->memory);
    server_listeners_free(&s->listeners);
    server_workers_free(&s->workers);
    server_plan_free(&s->plan);
    server_listing_free(&s->listing);
}
