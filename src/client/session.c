/* SPDX-License-Identifier: MIT
 * client_session: see client/session.h. */
#include "client/session.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/messages.h"
#include "base/shutdown.h"
#include "base/thread_start.h"
#include "base/units.h"
#include "client/diagnose.h"
#include "client/judge.h"
#include "client/judge_goals.h"
#include "client/opts_find.h"
#include "client/run.h"
#include "client/session_report.h"
#include "client/start_gate.h"
#include "client/sweep.h"
#include "host/kernel_features.h"
#include "host/preflight_report.h"
#include "net/sock_stamp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TITLE_BYTES = 2 * SOCK_TEXT_BYTES + 2 * UNITS_TEXT_BYTES };

/* What is planned, in a line.  Returns title. */
static const char *format_title(const struct client_plan *plan, char title[static TITLE_BYTES])
{
    const struct client_config *config = &plan->config;
    char count[UNITS_TEXT_BYTES];

    snprintf(title, TITLE_BYTES, "%s %s to %s from %" PRIu32 " %s",
             units_format_count(count, config->n_connections),
             units_noun(config->n_connections, "connection", "connections"), plan->target,
             config->n_workers, units_noun(config->n_workers, "thread", "threads"));
    return title;
}

static int read_token(struct client_session *s)
{
    const char *file = s->opts.control_token;
    char error[CONTROL_SOCKET_ERROR_BYTES];

    if (file != NULL && control_token_read(&s->token, file, error) != 0)
        return log_error("--control-token: %s", error);
    return 0;
}

int client_session_print_plan(struct client_session *s)
{
    const struct preflight *p = &s->plan.preflight;
    char title[TITLE_BYTES];

    if (!s->opts.quiet)
        kernel_features_warn(FEATURE_PROC); /* a limit that is unknown always fits */
    format_title(&s->plan, title);
    if (read_token(s) != 0 || client_outputs_open_json(&s->outputs, &s->opts) != 0 ||
        preflight_report_plan(&s->outputs.json, "tcpclient", title, p) != 0)
        return CLIENT_EXIT_USAGE;
    return preflight_worst(p) == PREFLIGHT_STOP ? CLIENT_EXIT_USAGE : CLIENT_EXIT_VALID;
}

static void log_limits(const struct client_session *s, enum preflight_level level)
{
    char subject[64];

    snprintf(subject, sizeof subject, "--%s %s%" PRIu64, client_opts_limit_option(&s->opts),
             s->opts.max_connections > s->opts.connections && s->opts.find != CLIENT_FIND_NONE
                 ? "up to "
                 : "",
             s->opts.find != CLIENT_FIND_NONE ? s->plan.config.n_connections : s->opts.connections);
    preflight_report_log(&s->plan.preflight, subject, level);
}

/* Exits here if the plan does not fit, before anything is opened. */
static int check_plan(const struct client_session *s)
{
    if (preflight_worst(&s->plan.preflight) != PREFLIGHT_STOP || s->opts.force)
        return 0;
    log_limits(s, PREFLIGHT_STOP);
    return -1;
}

static void warn(const struct client_session *s)
{
    char title[TITLE_BYTES];

    if (!s->opts.quiet) {
        log_limits(s, PREFLIGHT_WARN);
        kernel_features_warn(FEATURE_PROC | FEATURE_SOCK_DIAG |
                             (s->opts.kernel_ts == CLIENT_KERNEL_TS_YES ? FEATURE_STAMPS : 0) |
                             (s->plan.config.socket.datagrams ? FEATURE_DROPS : 0));
    }
    if (s->opts.verbose > 0)
        preflight_report_text(log_stream(), format_title(&s->plan, title), &s->plan.preflight);
}

/* --- run --- */

static void reopen_outputs(void *arg)
{
    struct client_session *s = arg;

    client_outputs_reopen(&s->outputs, s->plan.config.rows);
}

/* A run that cannot start leaves the files of an earlier one as they are. */
static int begin_outputs(void *arg)
{
    struct client_session *s = arg;

    s->was_refused =
        client_outputs_begin(&s->outputs) != 0 ||
        (s->outputs.hlog.stream != NULL && client_outputs_begin_hlog(&s->outputs) != 0);
    if (s->was_refused)
        return -1;
    if (s->plan.config.rows != NULL)
        rows_start(s->plan.config.rows);
    return 0;
}

static void look_at_outputs(void *arg)
{
    struct client_session *s = arg;

    client_outputs_look(&s->outputs, s->plan.config.rows);
}

/* Opens the control port, and reads the servers' counters. */
static int open_control(struct client_session *s)
{
    const struct client_opts *o = &s->opts;
    char error[CONTROL_SOCKET_ERROR_BYTES];

    if (o->server_control != NULL &&
        (client_servers_parse(&s->servers, o->server_control, error) != 0 ||
         client_servers_read_before(&s->servers, &s->token, CONTROL_SOCKET_WAIT_MS, error) != 0))
        return log_error("--server-control: %s", error);
    if (o->control == NULL)
        return 0;
    if (control_socket_listen(&s->control, o->control, o->control_token != NULL, error) != 0)
        return log_error("--control: %s", error);
    if (!o->quiet)
        log_error("control at %s, room for %" PRIu32 " %s", o->control,
                  s->plan.config.n_connections,
                  units_noun(s->plan.config.n_connections, "connection", "connections"));
    return 0;
}

static int open_watch(struct client_session *s)
{
    char error[WATCH_TEXT_BYTES];

    if (s->opts.watch != NULL && watch_open(&s->watch.watch, "/proc", &s->opts.watch_target,
                                            s->opts.server.port, error) != 0)
        return log_error("--watch: '%s': %s", s->opts.watch, error);
    return 0;
}

/* Finds the programs for --report. */
static int open_page(struct client_session *s)
{
    const struct client_opts *o = &s->opts;

    if (o->report == NULL)
        return 0;
    if (client_page_prepare(&s->page, o->report, o->hlog, o->connections_out) != 0)
        return -1;
    s->outputs.hlog_name = s->page.log[0] != '\0' ? s->page.log : NULL;
    return 0;
}

/* Reports a start that is missed or impossible before anything is written. */
static int check_start(const struct client_opts *o, const struct start_gate_settings *gate)
{
    char late_max[UNITS_TEXT_BYTES];

    if (start_gate_is_missed(gate))
        return log_error(
            "--start-at: '%s' was more than --late-max (%s) ago: expected a later time",
            o->start_at, units_format_duration(late_max, gate->late_max_ns));
    if (gate->at_epoch_ns > 0 && start_gate_is_before_boot(gate->at_epoch_ns))
        return log_error("--start-at: '%s' is before this machine was booted", o->start_at);
    return start_gate_prepare(gate);
}

static int open_rows(struct client_session *s)
{
    const struct rows_options rows = {
        .fd = s->outputs.rows.fd,
        .n_rings = s->plan.config.n_workers,
        .ring_rows = client_plan_ring_rows(s->plan.config.n_workers),
        .realtime_offset_ns = clock_realtime_offset_ns(),
        .when_full = s->opts.raw_full,
        .one_in = s->opts.sample_one_in,
        .hurry = shutdown_flag(),
    };

    if (s->outputs.rows.fd < 0)
        return 0;
    s->plan.config.rows = rows_open(&rows);
    if (s->plan.config.rows == NULL)
        return log_error("raw output: %s%s", strerror(errno), thread_start_hint(errno));
    return 0;
}

/* As client_run(); the kernel timestamps answers even if for a while no connection is open. */
static int run_stamped(struct client_session *s, const struct client_run_settings *settings,
                       struct client_result *result)
{
    const int stamps = s->plan.config.socket.stamp_received ? sock_open_stamped() : -1;
    const int failed = client_run(&s->plan.config, settings, result);
    const int error = errno;

    if (stamps >= 0)
        close(stamps);
    errno = error;
    return failed;
}

static int run(struct client_session *s, struct client_sweep *sweep, struct client_result *result)
{
    const struct report_about about = client_session_about(s, s->plan.rate_qps);
    const struct start_gate_settings gate = {
        .at_epoch_ns = s->opts.start_epoch_ns,
        .file = s->opts.start_file,
        .late_max_ns = s->opts.late_max_ns,
        .ahead_ns = s->opts.settle_ns,
        .quiet = s->opts.quiet,
    };
    const struct client_run_settings settings = {
        .settle_ns = s->opts.settle_ns,
        .stats_interval_ns = s->opts.quiet ? 0 : s->opts.stats_interval_ns,
        .stats_in_place = log_can_erase(),
        .rate_qps = s->plan.rate_qps,
        .connections = s->outputs.connections.stream,
        .interval_log = s->outputs.hlog.stream != NULL ? &s->outputs.hlog : NULL,
        .begin = begin_outputs,
        .reopen = reopen_outputs,
        .look = look_at_outputs,
        .arg = s,
        .control = s->opts.control != NULL ? &s->control : NULL,
        .control_token = &s->token,
        .about = &about,
        .servers = s->servers.n > 0 ? &s->servers : NULL,
        .sweep = sweep,
        .watch = s->opts.watch != NULL ? &s->watch : NULL,
        .gate = gate.at_epoch_ns > 0 || gate.file != NULL ? &gate : NULL,
    };
    int failed, error;

    if (check_start(&s->opts, &gate) != 0 || open_rows(s) != 0)
        return -1;
    failed = run_stamped(s, &settings, result);
    error = errno;
    messages_set_wait(MESSAGES_BRIEFLY);
    if (failed && !s->was_refused)
        log_error("cannot start: %s%s", strerror(error), thread_start_hint(error));
    if (s->plan.config.rows != NULL) {
        rows_close(s->plan.config.rows, &result->rows);
        result->has_rows = true;
    }
    s->was_stopped = shutdown_was_requested();
    result->interrupted |= s->was_stopped;
    return failed;
}

/* --- measure --- */

static void add_cost(struct client_session *s, struct client_result *result)
{
    if (s->opts.watch == NULL)
        return;
    server_cost_copy_name(s->cost.name, s->watch.watch.name);
    server_cost_copy_name(s->cost.end, s->watch.watch.end);
    server_cost_compute(&s->cost, &s->watch.series,
                        result->loaded ? result->measured_epoch_ns : UINT64_MAX,
                        result->measured_epoch_ns + result->scheduled_ns);
    result->cost = &s->cost;
    result->watched = &s->watch.series;
}

static int exit_code(const struct client_result *result, bool reports_written)
{
    if (result->interrupted || shutdown_was_requested())
        return CLIENT_EXIT_INTERRUPTED;
    if (result->broken_law != NULL || client_goals_are_missed(&result->goals))
        return CLIENT_EXIT_FAILED_CHECK;
    return result->doubts != 0 || !client_goals_are_met(&result->goals) || !reports_written
               ? CLIENT_EXIT_SUSPECT
               : CLIENT_EXIT_VALID;
}

static int measure_with(struct client_session *s, struct client_sweep *sweep,
                        struct client_result *result)
{
    int code = CLIENT_EXIT_USAGE;

    if (run(s, s->opts.find != CLIENT_FIND_NONE ? sweep : NULL, result) == 0) {
        result->servers = s->servers.n > 0 ? &s->servers : NULL;
        add_cost(s, result);
        client_judge(result, &s->plan, (unsigned)s->opts.require);
        client_diagnose(result, &s->plan, s->opts.threads == 0);
        if (s->opts.asserted.n > 0)
            client_judge_goals(result, &s->plan, &s->opts.asserted);
        code = exit_code(result, client_session_report(s, result));
    }
    for (int m = 0; m < CLIENT_N_METRICS; m++)
        hist_free(&result->metrics[m]);
    for (unsigned k = 0; k < CLIENT_CLASS_MOST; k++)
        client_class_times_free(&result->class_times[k]);
    losses_free(&result->losses);
    timeout_counts_free(&result->timeouts);
    return code;
}

static int measure(struct client_session *s)
{
    struct client_result *result = calloc(1, sizeof *result);
    struct client_sweep sweep;
    int code = CLIENT_EXIT_USAGE;

    if (client_sweep_prepare(&sweep, &s->opts) != 0 || result == NULL)
        log_error("out of memory");
    else
        code = measure_with(s, &sweep, result);
    client_sweep_free(&sweep);
    free(result);
    return code;
}

/* What client_session_free() removes.  The inputs come first: an output must not replace one. */
static int open_all(struct client_session *s)
{
    if (shutdown_catch() != 0)
        return log_error("cannot handle signals: %s", strerror(errno));
    if (read_token(s) != 0 || open_page(s) != 0 || client_outputs_open(&s->outputs, &s->opts) != 0)
        return -1;
    messages_set_wait(MESSAGES_NEVER); /* until the run is over */
    return open_control(s);
}

int client_session_run(struct client_session *s)
{
    if (check_plan(s) != 0 || open_watch(s) != 0)
        return CLIENT_EXIT_USAGE;
    if (open_all(s) != 0 || shutdown_was_requested())
        return shutdown_was_requested() ? CLIENT_EXIT_INTERRUPTED : CLIENT_EXIT_USAGE;
    warn(s);
    return measure(s);
}

void client_session_free(struct client_session *s)
{
    control_socket_close(&s->control);
    client_outputs_withdraw(&s->outputs);
    watch_thread_free(&s->watch);
    client_page_free(&s->page);
    client_plan_free(&s->plan);
    free(s->outputs.hlog_head);
}
