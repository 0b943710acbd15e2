/* SPDX-License-Identifier: MIT
 * html_search: the answer of a capacity search as one sentence, and the section on its trials. */
#include "report/figure.h"
#include "report/html_picture.h"
#include "report/html_plots.h"
#include "report/html_sections.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "report/result.h"
#include "report/result_figures.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Limit on rows of the table.  A search has up to 512 trials, usually 60, and a page should have at
 * most 300 kB. */
enum { MOST_ROWS = 200 };

static void print_found(FILE *out, const struct json_object *search, const char *lower,
                        const char *upper)
{
    char text[FIGURE_TEXT_BYTES];
    double low, high;

    if (figure_load(text, search, search, "capacity") == NULL || lower == NULL || upper == NULL)
        return;
    html_printf(out, "%s: %s sustained, %s not", text, lower, upper);
    if (result_double(search, "lower", &low) && result_double(search, "upper", &high) && high > 0)
        html_printf(out, " (%.1f %% apart)", 100 * (1 - low / high));
}

static void print_at_least(FILE *out, const struct json_object *search, const char *lower)
{
    double low, most;
    const bool is_below =
        result_double(search, "lower", &low) && result_double(search, "max", &most) && low < most;

    html_printf(out, "at least %s%s", lower,
                is_below ? ": no higher load was confirmed" : ", the end of the range");
}

static void print_inconclusive(FILE *out, const struct json_object *search, const char *lower,
                               const char *upper)
{
    const char *reason = figure_reason(search);

    fputs("inconclusive", out);
    if (reason != NULL)
        html_printf(out, " (%s)", reason);
    if (lower != NULL)
        html_printf(out, "; so far %s sustained", lower);
    if (upper != NULL)
        html_printf(out, "%s %s not sustained", lower != NULL ? "," : "; so far", upper);
}

void html_search_answer(FILE *out, const struct json_object *search)
{
    char texts[2][FIGURE_TEXT_BYTES];
    const char *lower = figure_load(texts[0], search, search, "lower");
    const char *upper = figure_load(texts[1], search, search, "upper");
    const char *status = result_string(search, "status");
    const char *limited_by = result_string(search, "limited_by");

    fputs("<p class=\"capacity\"><strong>Capacity</strong>: ", out);
    if (status != NULL && strcmp(status, "found") == 0)
        print_found(out, search, lower, upper);
    else if (status != NULL && strcmp(status, "at-least") == 0 && lower != NULL)
        print_at_least(out, search, lower);
    else if (status != NULL && strcmp(status, "less-than") == 0 && upper != NULL)
        html_printf(out, "less than %s, the lowest load tried", upper);
    else
        print_inconclusive(out, search, lower, upper);
    if (limited_by != NULL)
        html_printf(out, "; limited by %s", limited_by);
    if (limited_by != NULL && figure_bound(search) != NULL)
        html_printf(out, " (%s)", figure_bound(search));
    if (figure_cut(search) != NULL)
        html_printf(out, "; ended early: %s", figure_cut(search));
    fputs(".</p>\n", out);
}

static void print_level(FILE *out, const struct json_object *search)
{
    const char *separator = "<p>Service level: ";
    double recovery_s;

    for (unsigned i = 0; result_item(search, "slo", i) != NULL; i++) {
        fputs(separator, out);
        html_text(out, result_item(search, "slo", i));
        separator = ", ";
    }
    if (result_item(search, "slo", 0) != NULL) {
        fputs(result_flag(search, "confirmed") ? "; confirmed by a longer trial" : "", out);
        if (result_double(search, "recovery_s", &recovery_s)) /* the second that begins then */
            html_printf(out, "; recovered from an overload within %.0f s", recovery_s + 1);
        else if (result_find(search, "recovers") != NULL)
            fputs("; did not recover from an overload in time", out);
        fputs(".</p>\n", out);
    }
}

static void print_curve(FILE *script, const void *arg)
{
    html_plots_trials(script, arg);
}

static void print_trials(FILE *out, const struct json_object *search, uint64_t timeout_ns)
{
    static const struct html_column columns[] = {
        {"trial", true}, {"load", false}, {"length", false}, {"p50", false},
        {"p99", false},  {"lost", false}, {"result", true}};
    char texts[5][FIGURE_TEXT_BYTES], result[FIGURE_FINDING_BYTES];
    const struct json_object *trial;
    size_t n = 0;

    html_table_begin(out, "Trials in order of time", columns, 7);
    for (; n < MOST_ROWS && (trial = result_element(search, "trials", n)) != NULL; n++) {
        const char *class = result_string(trial, "class");

        figure_finding(result, class != NULL ? class : "", result_string(trial, "reason"));
        html_table_row(
            out, columns,
            (const char *[]){result_string(trial, "step"),
                             figure_load(texts[0], search, trial, "load"),
                             figure_seconds(texts[1], trial, "duration_s"),
                             figure_trial_latency(texts[2], trial, "p50_ns", 1, 2, timeout_ns),
                             figure_trial_latency(texts[3], trial, "p99_ns", 99, 100, timeout_ns),
                             figure_count(texts[4], trial, "lost"), result},
            7);
    }
    html_table_end(out);
    if (result_element(search, "trials", n) != NULL)
        html_printf(out, "The first %zu trials; the JSON result has all of them.\n", n);
}

void html_search(struct html_report *r)
{
    const struct json_object *search = result_find(r->result, "search");

    if (search == NULL)
        return;
    fputs("<section>\n<h2>Capacity search</h2>\n", r->out);
    print_level(r->out, search);
    if (html_plots_has_trials(search))
        html_picture(r->out, &r->can_draw,
                     "Response time by load, for trials that the client's host did not limit; "
                     "several trials at one load are averaged. The dashed lines are the bounds of "
                     "the capacity.",
                     print_curve, search);
    if (result_element(search, "trials", 0) != NULL)
        print_trials(r->out, search, result_timeout_ns(r->result));
    else
        fputs("<p class=\"soft\">No trial was completed.</p>\n", r->out);
    fputs("</section>\n", r->out);
}
