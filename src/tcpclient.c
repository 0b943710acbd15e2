/* SPDX-License-Identifier: MIT
 * tcpclient: opens many TCP connections to one server, sends queries over them at a fixed rate and
 * measures each.  parse -> check -> plan -> run -> judge -> report -> exit code. */
#include "client_opts.h"
#include "client_run.h"
#include "clock.h"
#include "complain.h"
#include "oslimits.h"
#include "report.h"
#include "sock.h"
#include "units.h"
#include "verdict.h"
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
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
    struct client_config config;
    int raw_fd; /* -1: no raw rows */
    FILE *json; /* NULL: no JSON */
    uint32_t n_excluded_ports;
    char target[SOCK_TEXT_BYTES];
};

/* --- check and plan --- */

static int plan_query(struct setup *s)
{
    char error[QUERY_ERROR_BYTES];

    if (query_init(&s->config.query, s->opts.protocol, s->opts.qname, s->opts.size_bytes, error) !=
        0)
        return complain("%s", error);
    return 0;
}

static int plan_sources(struct setup *s)
{
    const struct client_opts *o = &s->opts;
    struct srcplan *plan = &s->config.plan;
    char error[SRCPLAN_ERROR_BYTES], ports[UNITS_TEXT_BYTES];

    srcplan_init(plan);
    if (o->source != NULL && srcplan_add_sources(plan, o->source, error) != 0)
        return complain("--source: %s", error);
    if (o->sport != NULL && srcplan_add_ports(plan, o->sport, error) != 0)
        return complain("--sport: %s", error);
    if (o->source != NULL && o->sport == NULL) {
        snprintf(ports, sizeof ports, "%u-65535", oslimits_first_unprivileged_port());
        if (srcplan_add_ports(plan, ports, error) != 0)
            return complain("--sport: %s", error);
    }
    if (plan->n_ports > 0)
        s->n_excluded_ports = oslimits_exclude_unusable_ports(plan);
    return 0;
}

static int resolve(struct setup *s)
{
    char error[SOCK_ERROR_BYTES];

    if (sock_resolve(&s->opts.server, srcplan_family(&s->config.plan), &s->config.target, error) !=
        0)
        return complain("HOST: %s", error);
    sock_format(s->target, &s->config.target);
    return 0;
}

/* Tuples the plan or, without one, the kernel's own port range can give to one destination. */
static uint64_t tuples_available(const struct setup *s)
{
    uint32_t first, last;

    if (s->opts.source != NULL || s->opts.sport != NULL)
        return srcplan_capacity(&s->config.plan);
    oslimits_ephemeral_ports(&first, &last);
    return last - first + 1;
}

static int check_tuples(const struct setup *s)
{
    uint64_t available = tuples_available(s), asked = s->opts.connections;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    if (asked <= available)
        return 0;
    return complain(
        "--connections: %s need more source (address, port) tuples than the %s there are: "
        "give --source with more addresses (as 127.0.0.2-127.0.0.9 on loopback) or a wider "
        "--sport",
        units_format_count(a, asked), units_format_count(b, available));
}

static int plan_threads(struct setup *s)
{
    struct client_config *config = &s->config;
    const uint64_t nofile = oslimits_raise_nofile(), n = s->opts.connections;
    uint32_t cpus = oslimits_cpus(), needed;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

    config->own_fd_tables = oslimits_can_own_fd_table();
    needed = config->own_fd_tables ? oslimits_workers_for(n, nofile, 1) : 1;
    if (!config->own_fd_tables && n + OSLIMITS_RESERVED_FDS > nofile)
        return complain(
            "--connections: %s do not fit under the fd limit of %s, and this system does "
            "not allow threads their own fd tables: raise it with 'ulimit -n %" PRIu64 "'",
            units_format_count(a, n), units_format_count(b, nofile), n + OSLIMITS_RESERVED_FDS);
    if (s->opts.threads != 0 && s->opts.threads < needed)
        return complain(
            "--threads: %" PRIu64 " is too few: %s connections under an fd limit of %s per "
            "thread need %" PRIu32 " (auto would take them)",
            s->opts.threads, units_format_count(a, n), units_format_count(b, nofile), needed);
    config->n_workers =
        s->opts.threads != 0
            ? (uint32_t)s->opts.threads
            : oslimits_workers_for(n, config->own_fd_tables ? nofile : UINT64_MAX, cpus);
    return 0;
}

static void plan_load(struct setup *s)
{
    const struct client_opts *o = &s->opts;
    struct client_config *c = &s->config;
    const double rate = o->loop == CLIENT_LOOP_CLOSED ? 0 : client_opts_rate_qps(o);

    c->n_connections = (uint32_t)o->connections;
    c->connect_rate_per_s = o->connect_rate;
    c->connect_window = (uint32_t)o->connect_window;
    c->connect_timeout_ns = o->connect_timeout_ns;
    c->socket.sndbuf_bytes = (int)o->sndbuf_bytes;
    c->socket.rcvbuf_bytes = (int)o->rcvbuf_bytes;
    c->prove = o->prove == 0;
    c->close = o->close;
    c->quickack = o->quickack;
    c->arrival = o->arrival;
    c->select = o->select;
    c->loop = o->loop;
    c->interval_ns = o->interval_ns;
    c->seed = o->seed;
    c->warmup_ns = o->warmup_ns;
    c->duration_ns = o->duration_ns > 0 ? o->duration_ns : PACER_NEVER;
    c->drain_ns = o->drain_ns;
    c->timeout_ns = o->timeout_ns;
    c->on_timeout = o->on_timeout;
    c->quiet = o->quiet;
    c->schedule = (struct pacer_segment){
        o->duration_ns > 0 ? o->warmup_ns + o->duration_ns : PACER_NEVER, rate, rate};
}

static void print_plan(const struct setup *s)
{
    const struct client_config *c = &s->config;
    char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], d[UNITS_TEXT_BYTES];

    fprintf(stderr,
            "tcpclient: plan: %s connections to %s in %" PRIu32 " threads, fd limit %s per %s\n"
            "tcpclient: plan: %s source tuples (%s), %" PRIu32
            " ports left out as reserved or listening\n",
            units_format_count(a, c->n_connections), s->target, c->n_workers,
            units_format_count(b, oslimits_raise_nofile()),
            c->own_fd_tables ? "thread" : "process, shared by all threads",
            units_format_count(d, tuples_available(s)),
            c->plan.n_ports > 0 ? "explicit" : "ports of the kernel's choice", s->n_excluded_ports);
}

static int open_outputs(struct setup *s)
{
    const struct client_opts *o = &s->opts;

    s->raw_fd = -1;
    if (o->raw && o->output == NULL)
        s->raw_fd = STDOUT_FILENO;
    else if (o->raw)
        s->raw_fd = open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (o->raw && s->raw_fd < 0)
        return complain("--output: cannot write '%s': %s", o->output, strerror(errno));
    if (o->json != NULL && strcmp(o->json, "-") == 0)
        s->json = stdout;
    else if (o->json != NULL)
        s->json = fopen(o->json, "we");
    if (o->json != NULL && s->json == NULL)
        return complain("--json: cannot write '%s': %s", o->json, strerror(errno));
    return 0;
}

static int prepare(struct setup *s)
{
    if (plan_query(s) != 0 || plan_sources(s) != 0 || resolve(s) != 0 || check_tuples(s) != 0 ||
        plan_threads(s) != 0 || open_outputs(s) != 0)
        return -1;
    plan_load(s);
    if (s->opts.verbose > 0)
        print_plan(s);
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

static int run(struct setup *s, struct client_result *result)
{
    const struct client_run_settings settings = {
        .settle_ns = s->opts.settle_ns,
        .stats_interval_ns = s->opts.quiet ? 0 : s->opts.stats_interval_ns,
    };
    int failed;

    if (s->raw_fd >= 0) {
        s->config.samples =
            samples_open(s->raw_fd, s->config.n_workers, ring_rows(s->config.n_workers),
                         clock_realtime_offset_ns());
        if (s->config.samples == NULL)
            return complain("raw output: %s", strerror(errno));
    }
    failed = client_run(&s->config, &settings, result);
    if (failed)
        complain("cannot start the worker threads: %s", strerror(errno));
    if (s->config.samples != NULL) {
        samples_close(s->config.samples, &result->samples);
        result->has_samples = true;
    }
    return failed;
}

/* --- judge --- */

/* 0, which raises no doubt, where too few queries were sent to tell. */
static uint64_t percentile_or_0(const struct hist *h, uint64_t beyond, uint32_t num, uint32_t den)
{
    return hist_percentile_is_supported(h, beyond, num, den) ? hist_percentile(h, beyond, num, den)
                                                             : 0;
}

static struct verdict_input judge_latency(const struct client_result *r, struct verdict_input in)
{
    const struct hist *lag = &r->metrics[CLIENT_SEND_LAG];
    const uint64_t beyond = client_result_beyond(r);

    in.has_latency = lag->count > 0;
    in.send_lag_p50_ns = percentile_or_0(lag, 0, 1, 2);
    in.send_lag_p99_ns = percentile_or_0(lag, 0, 99, 100);
    in.service_p50_ns = percentile_or_0(&r->metrics[CLIENT_SERVICE], beyond, 1, 2);
    in.response_p99_ns = percentile_or_0(&r->metrics[CLIENT_RESPONSE], beyond, 99, 100);
    return in;
}

static void judge(const struct setup *s, struct client_result *r)
{
    const struct tally_queries *q = &r->tally.queries[TALLY_MEASURED];
    const double steal = hoststat_steal_percent(&r->host_after, &r->host_loaded);
    const uint64_t retransmits =
        hoststat_delta(r->host_after.retransmits, r->host_loaded.retransmits);
    struct verdict_input in = {
        .connections_asked = r->connections_asked,
        .connections_live = r->connections_live,
        .scheduled = tally_get(&q->scheduled),
        .sent = tally_get(&q->sent),
        .unsent = tally_get(&q->unsent),
        .has_growth = r->has_growth,
        .in_flight_early = r->in_flight_early,
        .in_flight_late = r->in_flight_late,
        .rows_dropped = r->samples.dropped[0] + r->samples.dropped[1],
        .output_failed = r->samples.error != 0 || r->samples.out_of_patience,
        .has_steal = r->loaded && steal >= 0,
        .steal_percent = steal,
        .target_is_loopback = sock_is_loopback(&s->config.target),
        .retransmits = r->loaded && retransmits != HOSTSTAT_UNKNOWN ? retransmits : 0,
    };

    in.sent_on_schedule =
        in.scheduled == 0 || r->sent_ns == 0
            ? 1.0
            : (double)in.sent / (double)in.scheduled * (double)r->scheduled_ns / (double)r->sent_ns;
    r->broken_law =
        tally_broken_law(&r->tally, r->connections_asked, r->metrics[CLIENT_RESPONSE].count);
    if (r->broken_law == NULL && r->has_samples &&
        tally_get(&q->answered) != r->samples.written[1] + r->samples.dropped[1])
        r->broken_law = "answered queries = answer rows written and missing";
    in = judge_latency(r, in);
    r->doubts = verdict_judge(&in);
}

/* --- report --- */

static int write_reports(struct setup *s, const struct client_result *result)
{
    const struct report_about about = {
        .version = TCPSCALER_VERSION,
        .libevent = event_get_version(),
        .backend = worker_backend(),
        .target = s->target,
        .rate_qps = client_opts_rate_qps(&s->opts),
        .config = &s->config,
        .options = client_opts_table(),
        .settings = &s->opts,
    };
    int failed = 0;

    if (!s->opts.quiet)
        report_text(stderr, &about, result);
    if (s->json != NULL) {
        report_json(s->json, &about, result);
        failed = ferror(s->json) != 0;
        failed |= fclose(s->json) != 0;
    }
    if (failed)
        complain("--json: could not write '%s': %s", s->opts.json, strerror(errno));
    return failed;
}

static int exit_code(const struct client_result *result, int report_failed)
{
    if (result->interrupted)
        return EXIT_INTERRUPTED;
    if (result->broken_law != NULL)
        return EXIT_FAILED_CHECK;
    return result->doubts != 0 || report_failed ? EXIT_SUSPECT : EXIT_VALID;
}

static int measure(struct setup *s)
{
    struct client_result *result = calloc(1, sizeof *result);
    int code = EXIT_USAGE;

    if (result == NULL) {
        complain("no memory");
        return code;
    }
    if (run(s, result) == 0) {
        judge(s, result);
        code = exit_code(result, write_reports(s, result));
    }
    for (int m = 0; m < CLIENT_N_METRICS; m++)
        hist_free(&result->metrics[m]);
    free(result);
    return code;
}

static void cleanup(struct setup *s)
{
    srcplan_free(&s->config.plan);
    query_free(&s->config.query);
}

int main(int argc, char **argv)
{
    static struct setup setup;
    char error[OPTIONS_ERROR_BYTES];
    int code = EXIT_USAGE;

    switch (client_opts_parse(&setup.opts, argc, argv, stdout, error)) {
    case OPTIONS_EXIT:
        return EXIT_VALID;
    case OPTIONS_USAGE:
        complain("%s", error);
        return EXIT_USAGE;
    case OPTIONS_RUN:
        break;
    }
    signal(SIGPIPE, SIG_IGN);
    if (prepare(&setup) == 0)
        code = measure(&setup);
    cleanup(&setup);
    return code;
}
