/* SPDX-License-Identifier: MIT
 * client_session_report: see client/session_report.h. */
#include "client/session_report.h"

#include "base/log.h"
#include "base/units.h"
#include "client/report_goals.h"
#include "client/report_sweep.h"
#include "client/summary.h"
#include "measure/hgrm.h"
#include "measure/outcome_report.h"
#include "measure/verdict.h"
#include "net/worker.h"

#include <errno.h>
#include <string.h>

struct report_about client_session_about(const struct client_session *s, double rate_qps)
{
    return (struct report_about){
        .version = TCPSCALER_VERSION,
        .libevent = event_get_version(),
        .backend = worker_backend(),
        .target = s->plan.target,
        .command = s->command,
        .has_queries = rate_qps > 0 || s->plan.rate_qps > 0,
        .rate_qps = rate_qps,
        .churn_most_per_s = s->plan.churn_most_per_s,
        .config = &s->plan.config,
        .options = client_opts_table(),
        .settings = &s->opts,
    };
}

static void log_doubts(const struct client_result *r)
{
    char names[512] = "";
    size_t n = 0;

    if (r->broken_law != NULL)
        log_error("BUG: counts do not add up: %s", r->broken_law);
    for (int i = 0; i < VERDICT_N_REASONS; i++)
        if (r->doubts & (1u << i) && n < sizeof names)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n > 0 ? ", " : "",
                                  verdict_name((enum verdict_reason)i));
    if (n > 0)
        log_error("SUSPECT: %s", names);
}

static void log_rows(const struct output *o, const struct rows_result *rows)
{
    const uint64_t n_missing = rows->dropped[0] + rows->dropped[1];
    const char *why = rows_failure(rows);
    char missing[64] = "", n[UNITS_TEXT_BYTES];

    if (why == NULL)
        return;
    if (n_missing > 0)
        snprintf(missing, sizeof missing, "; %s %s missing", units_format_count(n, n_missing),
                 units_noun(n_missing, "row is", "rows are"));
    log_error("--%s: could not write '%s': %s%s", o->option, output_shown_name(o), why, missing);
}

static void log_limits(const struct diagnosis *d)
{
    char n[UNITS_TEXT_BYTES];

    for (unsigned i = 0; i < d->n_lines; i++)
        log_error("%s %s: %s: %s", units_format_count(n, d->lines[i].connections),
                  units_noun(d->lines[i].connections, "connection", "connections"),
                  d->lines[i].limit, d->lines[i].evidence);
}

static void log_goals(const struct client_goals *goals)
{
    char text[REPORT_GOAL_BYTES];

    for (unsigned i = 0; goals->slo != NULL && i < goals->slo->n; i++)
        if (goals->states[i] != CLIENT_GOAL_MET)
            log_error("--assert: %s", report_goal(text, goals, i));
}

static bool refers_to_outcomes(const struct client_result *r)
{
    return (r->doubts & (1u << VERDICT_CONNECTIONS_SHORT | 1u << VERDICT_UNSENT)) != 0;
}

/* Logged even with --quiet: they explain the exit code. */
static void log_reasons(const struct client_session *s, const struct client_result *r)
{
    log_doubts(r);
    log_rows(&s->outputs.rows, &r->rows);
    if (r->doubts != 0)
        log_limits(&r->diagnosis);
    if (refers_to_outcomes(r) && r->diagnosis.n_lines == 0)
        outcome_report_log(r->tally.connections.ended);
    log_goals(&r->goals);
}

/* Returns 0, or nonzero after one line on stderr if the page was not written. */
static int write_page(struct client_session *s, const struct report_about *about,
                      const struct client_result *result)
{
    struct output *page = &s->outputs.page;
    int fd;

    if (page->stream == NULL)
        return 0;
    fd = output_fd(page);
    if (fd < 0)
        log_error("--report: cannot write '%s': %s", page->name, strerror(errno));
    if (fd >= 0 && client_page_write(&s->page, fd, about, result, s->was_stopped) == 0)
        return output_close(page);
    output_abandon(page);
    return -1;
}

static void write_files(struct client_session *s, const struct report_about *about,
                        const struct client_result *result)
{
    if (s->outputs.json.stream != NULL)
        report_json(s->outputs.json.stream, about, result);
    if (s->outputs.hgrm.stream != NULL)
        hgrm_print(s->outputs.hgrm.stream, &result->metrics[CLIENT_RESPONSE]);
    if (s->outputs.trials.stream != NULL)
        report_sweep_trials_csv(s->outputs.trials.stream, result->sweep);
    if (s->outputs.sweep.stream != NULL)
        report_sweep_csv(s->outputs.sweep.stream, result->sweep);
}

bool client_session_report(struct client_session *s, const struct client_result *result)
{
    const struct report_about about = client_session_about(s, result->requested_qps);
    struct client_summary summary = {0};
    int failed = result->log_failed;

    if (s->opts.quiet) {
        log_reasons(s, result);
    } else {
        client_summary_begin(&summary, &about, result);
    }
    write_files(s, &about, result);
    failed |= client_outputs_close(&s->outputs);
    failed |= write_page(s, &about, result);
    client_summary_end(&summary);
    return !failed;
}
