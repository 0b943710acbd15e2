/* SPDX-License-Identifier: MIT
 * cmd_show: tcpreport show: prints the files of a run as one screen of text. */
#include "base/units.h"
#include "measure/latency_report.h"
#include "measure/server_cost_report.h"
#include "report/answer_note_reader.h"
#include "report/class_reader.h"
#include "report/cmd.h"
#include "report/explanation.h"
#include "report/figure.h"
#include "report/goal_line.h"
#include "report/opts.h"
#include "report/plain.h"
#include "report/recordings.h"
#include "report/result.h"
#include "report/result_figures.h"
#include "report/search_report.h"
#include "report/server_cost_reader.h"
#include "report/show_counts.h"
#include "report/watch_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- head --- */

/* A listener has rows of messages only. */
static bool is_of_listener(const struct recording *r)
{
    return result_is_of_listener(r->result) ||
           (r->result == NULL && r->n_query_rows == 0 && r->n_answer_rows > 0);
}

/* For runs that only have rows. */
static void print_what_rows_lack(const struct recording *r)
{
    char text[UNITS_TEXT_BYTES];

    if (is_of_listener(r)) {
        puts("  rows of pushed messages do not show which were lost");
        return;
    }
    if (r->n_query_rows == 0)
        puts("  no rows");
    else
        puts("  a query without an answer row counts as unanswered; queries never sent have no "
             "rows");
    if (r->n_answer_rows > r->n_query_rows)
        printf("  %s more %s than queries: rows are missing, the unanswered queries are unknown\n",
               units_format_count(text, r->n_answer_rows - r->n_query_rows),
               units_noun(r->n_answer_rows - r->n_query_rows, "answer", "answers"));
}

static void print_program(const struct json_object *result)
{
    const size_t n_instances = result_n_instances(result);
    char program[PLAIN_BYTES], version[PLAIN_BYTES];

    plain(program, result_string(result, "program"));
    plain(version, result_string(result, "version"));
    if (n_instances > 0)
        printf("%zu %s of tcpclient, merged by %s %s,", n_instances,
               units_noun(n_instances, "instance", "instances"), program, version);
    else
        printf("%s %s", program, version);
}

static void print_head(const struct recording *r)
{
    const char *target = result_string(r->result, "target");
    char to[PLAIN_BYTES], started[PLAIN_BYTES];

    plain_print(stdout, r->name, 0);
    fputs(": ", stdout);
    if (r->result == NULL) {
        puts("no result (--json): counts and verdict are unknown");
        if (r->has_rows)
            print_what_rows_lack(r);
        return;
    }
    print_program(r->result);
    printf(" to %s, started %s\n\n", plain(to, target != NULL ? target : "several targets"),
           plain(started, result_string(r->result, "started")));
    show_counts(stdout, r->result);
}

/* --- latency --- */

/* Prints nothing if the result has no such figures. */
static void print_holding(int width, const struct json_object *result)
{
    const struct json_object *of = result_find(result, "holds");
    bool holds[LATENCY_N_PERCENTILES + 1];

    for (int i = 0; i < LATENCY_N_PERCENTILES; i++)
        holds[i] = result_flag(of, latency_percentiles[i].key);
    holds[LATENCY_N_PERCENTILES] = result_flag(of, "max");
    if (of != NULL)
        latency_report_holds(stdout, width, holds);
}

/* Whether it is a metric of the whole run that has times. */
static bool take_latency(struct recording *r, const char *name, struct latency *l)
{
    return !class_reader_is_of_class(name) && recording_latency(r, name, l) &&
           l->count + l->over > 0;
}

static bool has_times(struct recording *r)
{
    struct latency l;

    for (unsigned i = 0; i < r->metrics.n; i++)
        if (take_latency(r, r->metrics.items[i].name, &l))
            return true;
    return false;
}

static void print_times(struct recording *r)
{
    struct latency l;
    int width = LATENCY_REPORT_NAME;

    for (unsigned i = 0; i < r->metrics.n; i++)
        if (!class_reader_is_of_class(r->metrics.items[i].name))
            width = latency_report_width(width, r->metrics.items[i].name);
    putchar('\n');
    latency_report_head(stdout, "Time", width);
    for (unsigned i = 0; i < r->metrics.n; i++)
        if (take_latency(r, r->metrics.items[i].name, &l)) {
            latency_report_text(stdout, r->metrics.items[i].name, width, &l,
                                result_timeout_of_ns(r->result, r->metrics.items[i].name));
            if (strcmp(r->metrics.items[i].name, "response") == 0)
                print_holding(width, r->result);
        }
}

static void print_latency(struct recording *r)
{
    const struct metric *response = metrics_find(&r->metrics, "response");

    if (!has_times(r))
        return;
    print_times(r);
    if (response != NULL && response->has_counts)
        latency_report_bars(stdout,
                            is_of_listener(r) ? "Response time histogram (upper bound, messages)"
                                              : "Response time histogram (upper bound, answers)",
                            &response->hist);
    else
        puts("  no histogram: it requires the log (--hlog) or the rows (-R) of the run");
}

static void print_classes(const struct json_object *result)
{
    struct class_report classes[CLASS_READER_MOST];
    char names[CLASS_READER_MOST][PLAIN_BYTES];
    const size_t n = class_reader_take(result, classes);

    for (size_t i = 0; i < n; i++)
        classes[i].name = plain(names[i], classes[i].name);
    class_report_text(stdout, classes, n, result_timeout_ns(result));
}

/* --- outcomes and verdict --- */

struct outcomes {
    const struct json_object *of; /* the object with their counts */
    const char *title;            /* printed before the first one */
};

static void print_outcome(void *arg, const char *key)
{
    struct outcomes *outcomes = arg;
    char text[UNITS_TEXT_BYTES], outcome[FIGURE_TEXT_BYTES], name[PLAIN_BYTES];
    uint64_t n;

    if (!result_u64(outcomes->of, key, &n))
        return;
    if (outcomes->title != NULL)
        printf("\n%s\n", outcomes->title);
    outcomes->title = NULL;
    printf("%12s  %s\n", units_format_count(text, n), plain(name, figure_outcome(outcome, key)));
}

static void print_outcomes(const struct json_object *result, const char *path, const char *title)
{
    struct outcomes outcomes = {result_find(result, path), title};

    result_each_key(outcomes.of, print_outcome, &outcomes);
}

static void print_text(const struct json_object *of, const char *path)
{
    const char *text = result_string(of, path);

    plain_print(stdout, text != NULL ? text : "-", 0);
}

/* As tcpclient does. */
static void print_limits(const struct json_object *result)
{
    const struct json_object *line;
    char text[FIGURE_TEXT_BYTES];

    for (size_t i = 0; (line = result_element(result, "diagnosis", i)) != NULL; i++) {
        const char *connections = figure_count(text, line, "connections");

        printf("%s%12s  ", i == 0 ? "\nLimiting factors\n" : "",
               connections != NULL ? connections : "-");
        print_text(line, "limit");
        fputs(": ", stdout);
        print_text(line, "evidence");
        fputs("\n              -> ", stdout);
        print_text(line, "remedy");
        putchar('\n');
    }
}

static void print_goals(const struct json_object *result)
{
    char line[GOAL_LINE_BYTES];

    for (unsigned i = 0; goal_line(line, result, i) != NULL; i++)
        printf("%s%-13s%s\n", i == 0 ? "\n" : "", i == 0 ? "Goals" : "", line);
}

static void print_cost(const struct json_object *result)
{
    struct server_cost cost;

    if (server_cost_read(&cost, result_find(result, "server_cost")) != 0)
        return;
    putchar('\n');
    server_cost_report_text(stdout, &cost);
}

static void print_explanations(const struct json_object *result)
{
    char names[EXPLANATION_INSTANCES_BYTES];

    for (unsigned i = 0; explanation(result, i) != NULL; i++) {
        fputs("             ", stdout);
        plain_print(stdout, explanation_instances(names, result, i), 0);
        plain_print(stdout, explanation(result, i), 0);
        putchar('\n');
    }
}

static void print_answer_notes(const struct json_object *result)
{
    char text[ANSWER_NOTE_BYTES];

    for (int i = 0; i < ANSWER_N_NOTES; i++)
        if (answer_note_read(text, result, (enum answer_note_kind)i) != NULL)
            printf("             %s\n", text);
}

static void print_verdict(const struct json_object *result)
{
    const char *valid_to = result_string(result, "valid_to");
    char text[PLAIN_BYTES];

    printf("\nVerdict      %s", result_verdict_name(result_verdict(result)));
    if (valid_to != NULL && strcmp(valid_to, "none") == 0)
        fputs(result_any_holds(result) ? " (p50 does not hold)" : " (no percentile holds)", stdout);
    else if (valid_to != NULL && strcmp(valid_to, "max") != 0)
        printf(" (holds to %s)", plain(text, valid_to));
    putchar('\n');
    print_explanations(result);
    print_answer_notes(result);
    if (result_was_interrupted(result))
        puts("             interrupted: the figures cover the part that ran");
    if (result_find(result, "broken_law") != NULL)
        printf("             counts do not add up: %s\n",
               plain(text, result_text(result, "broken_law")));
}

/* Several runs have no common cost. */
static int join(struct recordings *all, const char *path)
{
    int failed = recordings_need_results(all, "--watch: ");

    for (size_t i = 0; i < all->n && !failed; i++)
        failed = watch_file_join(all->items[i].result, path);
    return failed;
}

int cmd_show(const struct report_opts *opts)
{
    struct recordings all;
    int code = CMD_USAGE;

    if (recordings_load_totals(&all, opts->files, (size_t)opts->n_files) == 0 &&
        (opts->watch == NULL || join(&all, opts->watch) == 0))
        code = CMD_OK;
    for (size_t i = 0; i < all.n && code == CMD_OK; i++) {
        struct recording *r = &all.items[i];

        if (i > 0)
            putchar('\n');
        print_head(r);
        if (result_find(r->result, "search") != NULL)
            search_report(result_find(r->result, "search"), result_timeout_ns(r->result));
        else if (result_find(r->result, "sweep") != NULL)
            search_report_sweep(result_find(r->result, "sweep"));
        else
            print_latency(r);
        if (r->result != NULL) {
            print_classes(r->result);
            print_outcomes(r->result, "connections.outcomes", "Connection outcomes");
            print_outcomes(r->result, "queries.outcomes", "Failed queries");
            print_limits(r->result);
            show_counts_server(stdout, r->result);
            print_cost(r->result);
            print_goals(r->result);
            print_verdict(r->result);
        }
    }
    recordings_free(&all);
    return code;
}
