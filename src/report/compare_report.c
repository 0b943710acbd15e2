/* SPDX-License-Identifier: MIT
 * compare_report: see report/compare_report.h. */
#include "report/compare_report.h"

#include "base/output.h"
#include "base/units.h"
#include "report/answer_kinds.h"
#include "report/cmd.h"
#include "report/figure.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LEAST_WHOLE 1000 /* capacities of at least this are printed as integers */

static const char *verdict_name(int code)
{
    static const char *const verdicts[] = {
        [CMD_OK] = "PASS", [CMD_WORSE] = "REGRESSION", [CMD_USAGE] = "INCONCLUSIVE"};

    return verdicts[code];
}

const char *compare_report_finding(enum comparison_finding finding)
{
    static const char *const findings[] = {
        [COMPARISON_SAME] = "same", [COMPARISON_WORSE] = "worse", [COMPARISON_BETTER] = "better"};

    return findings[finding];
}

/* If they differ, sets the reason. */
static bool got_other_answers(struct compare_report *r, const struct run_group *a,
                              const struct run_group *b)
{
    struct answer_kinds of_a = {0}, of_b = {0};
    char text[ANSWER_KINDS_TEXT_BYTES];

    for (size_t i = 0; i < a->n_valid; i++)
        answer_kinds_add(&of_a, a->valid[i]->result);
    for (size_t i = 0; i < b->n_valid; i++)
        answer_kinds_add(&of_b, b->valid[i]->result);
    if (!answer_kinds_differ(&of_a, &of_b, text))
        return false;
    snprintf(r->reason, sizeof r->reason, "the answers differ: %s (--any-answers compares them)",
             text);
    return true;
}

bool compare_report_check(struct compare_report *r, const struct report_opts *opts,
                          const struct recording *first, const struct run_group *a,
                          const struct run_group *b)
{
    const char *reason = NULL;

    if (!opts->force && (run_group_check(first, a) != 0 || run_group_check(first, b) != 0))
        reason = "the runs are not comparable";
    else if (!run_group_has_unit(first, a) || !run_group_has_unit(first, b))
        reason = "the capacities are in different units";
    if (reason != NULL)
        snprintf(r->reason, sizeof r->reason, "%s", reason);
    return reason == NULL && (opts->any_answers || !got_other_answers(r, a, b));
}

void compare_report_value(const struct run_metric *row, double value)
{
    char text[UNITS_TEXT_BYTES];

    if (row->percentile != NULL)
        printf("%11s", units_format_duration(text, (uint64_t)(value + 0.5)));
    else if (row->of_search && value >= LEAST_WHOLE)
        printf("%11s", units_format_count(text, (uint64_t)(value + 0.5)));
    else if (row->of_search)
        printf("%11.4g", value);
    else
        printf("%9.4f %%", units_percent(value));
}

bool compare_report_verdict(const struct compare_report *r)
{
    printf("%s: ", verdict_name(r->code));
    if (r->code == CMD_USAGE)
        puts(r->reason);
    return r->code != CMD_USAGE;
}

static bool is_missed(const struct compare_report *r, int i)
{
    return !r->is_judged[i] && run_metrics[i].of_search == r->of_searches;
}

void compare_report_not_judged(const struct compare_report *r)
{
    const char *separator = "; not judged: ";

    for (int i = 0; i < RUN_METRICS; i++) {
        if (!is_missed(r, i))
            continue;
        printf("%s%s", separator, run_metrics[i].name);
        separator = ", ";
    }
}

bool compare_report_json_is_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

static void print_json(FILE *out, const struct compare_report *r,
                       void (*put)(struct json *j, const void *arg), const void *arg)
{
    struct json j;

    json_init(&j, out);
    json_object_begin(&j, NULL);
    json_string(&j, "verdict", verdict_name(r->code));
    json_string(&j, "reason", r->code == CMD_USAGE ? r->reason : NULL);
    put(&j, arg);
    json_array_begin(&j, "not_judged");
    for (int i = 0; i < RUN_METRICS; i++)
        if (is_missed(r, i))
            json_string(&j, NULL, run_metrics[i].name);
    json_array_end(&j);
    json_object_end(&j);
}

int compare_report_json(const struct compare_report *r, const char *path,
                        void (*put)(struct json *j, const void *arg), const void *arg)
{
    struct output out;
    int failed;

    if (path == NULL)
        return r->code;
    if (output_open_document(&out, "json", path) != 0)
        return CMD_USAGE;
    failed = output_begin(&out);
    if (!failed)
        print_json(out.stream, r, put, arg);
    if (output_close(&out) != 0)
        failed = -1;
    return failed ? CMD_UNWRITTEN : r->code;
}
