/* SPDX-License-Identifier: MIT
 * tcpclient: opens many TCP connections to one server, sends queries over them at a fixed rate and
 * measures each.  parse -> check -> plan -> run -> judge -> report -> exit code. */
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/output.h"
#include "base/reopen.h"
#include "base/shutdown.h"
#include "base/standard_streams.h"
#include "base/units.h"
#include "client/opts.h"
#include "client/plan.h"
#include "client/report.h"
#include "client/run.h"
#include "client/start_gate.h"
#include "host/kernel_features.h"
#include "host/preflight_report.h"
#include "measure/hgrm.h"
#include "measure/hlog.h"
#include "measure/verdict.h"
#include "net/control_socket.h"
#include "net/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    EXIT_VALID = 0,
    EXIT_FAILED_CHECK = 1,
    EXIT_USAGE = 2,
    EXIT_SUSPECT = 3,
    EXIT_INTERRUPTED = 130
};

/* Rows that all workers together can be ahead of the writer: 64 MiB, about a second of 1 Mq/s. */
enum { ALL_RINGS_ROWS = 1 << 21, FEWEST_RING_ROWS = 1 << 14 };

/* What a run needs besides its configuration. */
struct setup {
    struct client_opts opts;
    struct client_plan plan;
    struct output json, rows, hlog, hgrm, connections; /* closed: not asked for */
    char *hlog_head;                                   /* what stands first in the log */
    struct control_socket control;
    struct control_token token;
    struct server_stats server; /* before the run */
};

/* --- plan --- */

static int print_plan(struct setup *s)
{
    const struct preflight *p = &s->plan.preflight;
    char title[2 * SOCK_TEXT_BYTES + 2 * UNITS_TEXT_BYTES], count[UNITS_TEXT_BYTES];
    struct json j;

    snprintf(title, sizeof title, "%s connections to %s from %" PRIu32 " threads",
             units_format_count(count, s->plan.config.n_connections), s->plan.target,
             s->plan.config.n_workers);
    if (s->json.stream == NULL) {
        preflight_report_text(stdout, title, p);
    } else {
        json_init(&j, s->json.stream);
        preflight_report_json_object(&j, "tcpclient", title, p);
    }
    if (output_close(&s->json, true) != 0 || output_flush_stdout() != 0)
        return EXIT_USAGE;
    return preflight_worst(p) == PREFLIGHT_STOP ? EXIT_USAGE : EXIT_VALID;
}

static void log_limits(const struct setup *s, enum preflight_level level)
{
    char subject[64];

    snprintf(subject, sizeof subject, "--connections %" PRIu64, s->opts.connections);
    preflight_report_log(&s->plan.preflight, subject, level);
}

/* What does not fit stops the program here, before anything is opened. */
static int check_plan(const struct setup *s)
{
    if (preflight_worst(&s->plan.preflight) != PREFLIGHT_STOP || s->opts.force)
        return 0;
    log_limits(s, PREFLIGHT_STOP);
    return -1;
}

static void warn(const struct setup *s)
{
    if (!s->opts.quiet) {
        log_limits(s, PREFLIGHT_WARN);
        kernel_features_warn(FEATURE_PROC | FEATURE_SOCK_DIAG |
                             (s->opts.kernel_ts == CLIENT_KERNEL_TS_YES ? FEATURE_STAMPS : 0));
    }
    if (s->opts.verbose > 0)
        preflight_report_text(stderr, "", &s->plan.preflight);
}

static int open_output(struct output *o, const char *option, const char *name)
{
    return name == NULL ? 0 : output_open(o, option, name);
}

static int open_json(struct setup *s)
{
    return open_output(&s->json, "json", s->opts.json);
}

static int begin_output(struct output *o)
{
    if (output_begin(o) != 0)
        return log_error("--%s: cannot write '%s': %s", o->option, o->name, strerror(errno));
    return 0;
}

/* None of them loses what it has before all of them could be opened. */
static int open_outputs(struct setup *s)
{
    const struct client_opts *o = &s->opts;
    struct output *const all[] = {&s->json, &s->rows, &s->hlog, &s->hgrm, &s->connections};

    if (o->hlog != NULL && !hlog_is_available())
        return log_error("--hlog: this program was built without zlib");
    if (open_json(s) != 0 ||
        (o->raw && output_open(&s->rows, o->output != NULL ? "output" : "raw",
                               o->output != NULL ? o->output : "-") != 0) ||
        open_output(&s->hlog, "hlog", o->hlog) != 0 ||
        open_output(&s->hgrm, "hgrm", o->hgrm) != 0 ||
        open_output(&s->connections, "connections-out", o->connections_out) != 0)
        return -1;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (begin_output(all[i]) != 0)
            return -1;
    return 0;
}

/* --- run --- */

static uint32_t ring_rows(uint32_t n_workers)
{
    uint32_t rows = ALL_RINGS_ROWS;

    while (rows > FEWEST_RING_ROWS && (uint64_t)rows * n_workers > ALL_RINGS_ROWS)
        rows /= 2;
    return rows;
}

/* What is written through the run goes on in new files of the same names; the files that are
 * written at the end stay. */
static void reopen_outputs(void *arg)
{
    struct setup *s = arg;

    if (s->opts.output != NULL && reopen(s->rows.fd, s->opts.output, ROWS_HEADER) != 0)
        log_error("--output: cannot reopen '%s': %s", s->opts.output, strerror(errno));
    if (s->hlog.stream != NULL &&
        (fflush(s->hlog.stream) != 0 || reopen(s->hlog.fd, s->opts.hlog, s->hlog_head) != 0))
        log_error("--hlog: cannot reopen '%s': %s", s->opts.hlog, strerror(errno));
}

static int begin_hlog(struct setup *s)
{
    size_t n_bytes;
    FILE *head = open_memstream(&s->hlog_head, &n_bytes);

    if (head == NULL)
        return log_error("no memory");
    hlog_begin(head, "tcpclient", TCPSCALER_VERSION, clock_now_ns() + clock_realtime_offset_ns());
    if (fclose(head) != 0)
        return log_error("no memory");
    fputs(s->hlog_head, s->hlog.stream);
    return 0;
}

static struct report_about about_of(const struct setup *s, double rate_qps)
{
    return (struct report_about){
        .version = TCPSCALER_VERSION,
        .libevent = event_get_version(),
        .backend = worker_backend(),
        .target = s->plan.target,
        .rate_qps = rate_qps,
        .churn_most_per_s = s->plan.churn_most_per_s,
        .config = &s->plan.config,
        .options = client_opts_table(),
        .settings = &s->opts,
    };
}

/* The port to be steered at, and what the server has counted so far. */
static int open_control(struct setup *s)
{
    const struct client_opts *o = &s->opts;
    char error[CONTROL_SOCKET_ERROR_BYTES];

    if (o->control_token != NULL && control_token_read(&s->token, o->control_token, error) != 0)
        return log_error("--control-token: %s", error);
    if (o->server_control != NULL && server_stats_read(&s->server, o->server_control, &s->token,
                                                       CONTROL_SOCKET_WAIT_MS, error) != 0)
        return log_error("--server-control: %s", error);
    if (o->control == NULL)
        return 0;
    if (control_socket_listen(&s->control, o->control, o->control_token != NULL, error) != 0)
        return log_error("--control: %s", error);
    if (!o->quiet)
        log_error("control at %s, room for %" PRIu32 " connections", o->control,
                  s->plan.config.n_connections);
    return 0;
}

/* What is too late already is said before anything is opened. */
static int check_start(const struct start_gate_settings *gate)
{
    if (start_gate_is_missed(gate))
        return log_error("--start-at: that was longer ago than --late-max allows");
    if (start_gate_prepare(gate) != 0)
        return log_error("--start-file: cannot write '%s.ready': %s", gate->file, strerror(errno));
    return 0;
}

static int run(struct setup *s, struct client_result *result)
{
    const struct report_about about = about_of(s, s->plan.rate_qps);
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
        .stderr_is_terminal = isatty(STDERR_FILENO) == 1,
        .stats_in_place = log_can_erase(),
        .rate_qps = s->plan.rate_qps,
        .connections = s->connections.stream,
        .interval_log = s->hlog.stream,
        .reopen = reopen_outputs,
        .arg = s,
        .control = s->opts.control != NULL ? &s->control : NULL,
        .control_token = &s->token,
        .about = &about,
        .server_control = s->opts.server_control,
        .gate = gate.at_epoch_ns > 0 || gate.file != NULL ? &gate : NULL,
    };
    int failed;

    if (check_start(&gate) != 0)
        return -1;
    if (s->hlog.stream != NULL && begin_hlog(s) != 0)
        return -1;
    if (s->rows.fd >= 0) {
        const struct rows_options rows = {
            .fd = s->rows.fd,
            .n_rings = s->plan.config.n_workers,
            .ring_rows = ring_rows(s->plan.config.n_workers),
            .realtime_offset_ns = clock_realtime_offset_ns(),
            .when_full = s->opts.raw_full,
            .one_in = s->opts.sample_one_in,
            .hurry = shutdown_flag(),
        };

        s->plan.config.rows = rows_open(&rows);
        if (s->plan.config.rows == NULL)
            return log_error("raw output: %s", strerror(errno));
    }
    failed = client_run(&s->plan.config, &settings, result);
    output_drop_stderr(false);
    if (failed)
        log_error("cannot start the worker threads: %s", strerror(errno));
    if (s->plan.config.rows != NULL) {
        rows_close(s->plan.config.rows, &result->rows);
        result->has_rows = true;
    }
    result->interrupted |= shutdown_was_requested();
    return failed;
}

/* --- judge --- */

/* At most so long after it was due a segment that was lost is sent again: Linux's least
 * retransmission timeout.  What the connection sends meanwhile waits behind it. */
#define LOSS_S 0.2

static uint64_t delayed_by_loss(const struct client_result *r, uint64_t n_latencies)
{
    const uint64_t lost = client_result_lost_segments(r);
    const double per_s =
        r->scheduled_ns > 0 && r->connections_live > 0
            ? (double)n_latencies * 1e9 / (double)r->scheduled_ns / (double)r->connections_live
            : 0;
    const double n = (double)lost * (1 + per_s * LOSS_S);

    return n < (double)n_latencies ? (uint64_t)n : n_latencies;
}

static void judge_latency(const struct setup *s, const struct client_result *r,
                          struct verdict_input *in)
{
    const struct hist *response = &r->metrics[CLIENT_RESPONSE], *own = &r->metrics[CLIENT_OWN];

    in->n_latencies = response->count + response->beyond;
    in->has_latency = in->n_latencies > 0;
    for (int i = 0; i < LATENCY_N_PERCENTILES; i++) {
        const struct latency_percentile *p = &latency_percentiles[i];

        in->percentiles[i].response_ns = hist_percentile(response, p->num, p->den);
        in->percentiles[i].own_ns = hist_percentile(own, p->num, p->den);
    }
    in->percentiles[LATENCY_N_PERCENTILES].response_ns =
        response->beyond > 0 ? HIST_BEYOND : response->max_ns;
    in->percentiles[LATENCY_N_PERCENTILES].own_ns = own->max_ns;
    if (sock_is_loopback(&s->plan.config.target)) {
        in->lost_segments = client_result_lost_segments(r);
        in->n_delayed_by_loss = delayed_by_loss(r, in->n_latencies);
    }
}

static void judge(const struct setup *s, struct client_result *r)
{
    const struct tally_queries *q = &r->tally.queries[TALLY_MEASURED];
    const bool churns = s->plan.config.queries_per_conn > 0; /* many are between two lives */
    const struct tally_push *push = &r->tally.push;
    const struct hist *response = &r->metrics[CLIENT_RESPONSE];
    const double steal = host_counters_steal_percent(&r->host_after, &r->host_loaded);
    /* also those of before the load: it may have lasted since */
    const uint64_t pressures = host_counters_memory_pressures(&r->host_after, &r->host_before);
    struct verdict_input *in = &r->verdict;

    *in = (struct verdict_input){
        .connections_wanted = r->connections_wanted,
        .connections_live = churns ? r->connections_wanted : r->connections_live,
        .scheduled = tally_get(&q->scheduled),
        .sent = tally_get(&q->sent),
        .unsent = tally_get(&q->unsent),
        .has_growth = r->has_growth,
        .in_flight_early = r->in_flight_early,
        .in_flight_late = r->in_flight_late,
        .rows_dropped = r->rows.dropped[0] + r->rows.dropped[1],
        .output_failed = r->rows.error != 0 || r->rows.out_of_patience,
        .has_steal = r->loaded && steal >= 0,
        .steal_percent = steal,
        .required = (unsigned)s->opts.require,
        .tcp_memory_pressures = pressures != HOST_COUNTERS_UNKNOWN ? pressures : 0,
        .out_of_ports = churns ? tally_connections_by_reason(&r->tally, REASON_PORTS) : 0,
        .messages_missing = tally_get(&push->lost) + tally_get(&push->duplicate) +
                            tally_get(&push->damaged) + tally_get(&push->unfinished),
        .negative_latencies = tally_get(&push->negative),
        .start_was_missed = r->start.missed,
        .cancelled = r->interrupted ? 0 : tally_get(&q->cancelled),
        .measured_nothing = (r->asked_qps > 0 && tally_get(&q->scheduled) == 0) ||
                            (s->plan.config.listens && response->count + response->beyond == 0),
    };

    in->sent_on_schedule = in->scheduled == in->unsent || r->sent_ns == 0
                               ? 1.0
                               : (double)in->sent / (double)(in->scheduled - in->unsent) *
                                     (double)r->scheduled_ns / (double)r->sent_ns;
    r->broken_law = tally_check(&r->tally, r->connections_asked, response->count, response->beyond);
    if (r->broken_law == NULL && r->has_rows &&
        tally_get(&q->answered) + tally_get(&r->tally.push.measured) !=
            r->rows.written[1] + r->rows.dropped[1] + r->rows.left_out[1])
        r->broken_law =
            "answered queries, messages = answer rows written, missing and not of the sample";
    judge_latency(s, r, in);
    r->doubts = verdict_judge(in);
}

/* --- report --- */

/* With --quiet, too: who sees nothing but the exit code should know where it comes from. */
static void log_doubts(const struct client_result *r)
{
    char names[512] = "";
    size_t n = 0;

    if (r->broken_law != NULL)
        log_error("BUG, counts do not add up: %s", r->broken_law);
    for (int i = 0; i < VERDICT_N_REASONS; i++)
        if (r->doubts & (1u << i) && n < sizeof names)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n > 0 ? ", " : "",
                                  verdict_name((enum verdict_reason)i));
    if (n > 0)
        log_error("SUSPECT: %s", names);
}

/* Returns whether every report was written. */
static bool write_reports(struct setup *s, const struct client_result *result)
{
    const struct report_about about = about_of(s, result->asked_qps);
    int failed = result->log_failed;

    if (s->opts.quiet)
        log_doubts(result);
    else
        report_text(stderr, &about, result);
    if (s->json.stream != NULL)
        report_json(s->json.stream, &about, result);
    if (s->hgrm.stream != NULL)
        hgrm_print(s->hgrm.stream, &result->metrics[CLIENT_RESPONSE]);
    failed |= output_close(&s->json, true);
    failed |= output_close(&s->hlog, false);
    failed |= output_close(&s->hgrm, true);
    failed |= output_close(&s->connections, true);
    failed |= output_close(&s->rows, false);
    return !failed;
}

/* Those that were there before the run and that it could not take over. */
static uint64_t tuples_in_time_wait(const struct setup *s, const struct client_result *r)
{
    if (!r->has_sockets || s->plan.sources.n_time_wait == HOST_LIMITS_UNKNOWN)
        return HOST_LIMITS_UNKNOWN;
    return s->plan.sources.n_time_wait < r->sockets.time_wait ? s->plan.sources.n_time_wait
                                                              : r->sockets.time_wait;
}

static void diagnose(const struct setup *s, struct client_result *r)
{
    const struct diagnosis_input in = {
        .tally = &r->tally,
        .protocol = s->plan.config.listens ? "listen" : s->plan.config.query.protocol->name,
        .over_tls = s->plan.config.tls != NULL,
        .not_begun =
            r->gave_up ? r->connections_asked - tally_get(&r->tally.connections.attempted) : 0,
        .losses = &r->losses,
        .none_is_left = r->connections_live == 0,
        .server_was_tried = r->server_was_tried,
        .server_accepts = r->server_accepts,
        .deaf = r->connections_deaf,
        .live = r->connections_live,
        .half_open = r->connections_half_open,
        .host = &r->limits,
        .listen_overflows =
            host_counters_delta(r->host_after.listen_overflows, r->host_before.listen_overflows),
        .shortage = r->shortage[0] != '\0' ? r->shortage : NULL,
        .n_tuples = s->plan.sources.n_tuples,
        .tuples_in_time_wait = tuples_in_time_wait(s, r),
        .in_time_wait = r->has_sockets ? r->sockets.time_wait : HOST_LIMITS_UNKNOWN,
        .threads_are_auto = s->opts.threads == 0,
        .own_fd_tables = r->own_fd_tables,
        .churns = s->plan.config.queries_per_conn > 0,
        .churn_per_s = client_result_churn_per_s(r),
    };

    if (in.churns ? tally_connections_failed(&r->tally) > 0
                  : r->connections_live < r->connections_wanted || in.deaf > 0)
        diagnosis_make(&r->diagnosis, &in);
}

static int exit_code(const struct client_result *result, bool reports_written)
{
    if (result->interrupted || shutdown_was_requested())
        return EXIT_INTERRUPTED;
    if (result->broken_law != NULL)
        return EXIT_FAILED_CHECK;
    return result->doubts != 0 || !reports_written ? EXIT_SUSPECT : EXIT_VALID;
}

static int measure(struct setup *s)
{
    struct client_result *result = calloc(1, sizeof *result);
    int code = EXIT_USAGE;

    if (result == NULL) {
        log_error("no memory");
        return code;
    }
    if (run(s, result) == 0) {
        result->server_before = s->server;
        judge(s, result);
        diagnose(s, result);
        code = exit_code(result, write_reports(s, result));
    }
    for (int m = 0; m < CLIENT_N_METRICS; m++)
        hist_free(&result->metrics[m]);
    losses_free(&result->losses);
    free(result);
    return code;
}

int main(int argc, char **argv)
{
    static struct setup setup = {.json = OUTPUT_CLOSED,
                                 .rows = OUTPUT_CLOSED,
                                 .hlog = OUTPUT_CLOSED,
                                 .hgrm = OUTPUT_CLOSED,
                                 .connections = OUTPUT_CLOSED,
                                 .control = {.fd = -1}};
    char error[OPTIONS_ERROR_BYTES];
    int code = EXIT_USAGE;

    standard_streams_open();
    signal(SIGPIPE, SIG_IGN);
    output_take_stderr();
    client_opts_table()->version = worker_version();
    switch (client_opts_parse(&setup.opts, argc, argv, stdout, error)) {
    case OPTIONS_EXIT:
        return output_flush_stdout() == 0 ? EXIT_VALID : EXIT_USAGE;
    case OPTIONS_USAGE:
        log_error("%s", error);
        return EXIT_USAGE;
    case OPTIONS_RUN:
        break;
    }
    if (client_plan_make(&setup.plan, &setup.opts) == 0) {
        if (setup.opts.plan)
            code = open_json(&setup) == 0 ? print_plan(&setup) : EXIT_USAGE;
        else if (check_plan(&setup) == 0 && open_outputs(&setup) == 0) {
            output_drop_stderr(true); /* until the run is over */
            if (open_control(&setup) == 0) {
                warn(&setup);
                code = measure(&setup);
            }
        }
    }
    control_socket_close(&setup.control);
    client_plan_free(&setup.plan);
    free(setup.hlog_head);
    return code;
}
