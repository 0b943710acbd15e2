/* SPDX-License-Identifier: MIT
 * html_over_time: the sections on response times and rates over time. */
#include "base/units.h"
#include "measure/tally.h"
#include "report/figure.h"
#include "report/history.h"
#include "report/html_picture.h"
#include "report/html_plots.h"
#include "report/html_sections.h"
#include "report/html_table.h"
#include "report/result.h"
#include "report/result_figures.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

static void print_heat_map(FILE *script, const void *arg)
{
    html_plots_heat_map(script, arg);
}

struct rates {
    const struct history *history;
    double requested_qps;
    bool of_listener;
};

static void print_rates(FILE *script, const void *arg)
{
    const struct rates *rates = arg;

    if (rates->of_listener)
        html_plots_message_rate(script, rates->history);
    else
        html_plots_rates(script, rates->history, rates->requested_qps);
}

/* Whether as many queries were scheduled as this rate makes.  The standard deviation of their
 * number is its square root with Poisson arrivals, and less with constant ones. */
static bool was_kept(const struct json_object *result, double rate_qps)
{
    double duration_s = 0, scheduled = 0;

    (void)result_double(result, "rate.duration_s", &duration_s);
    (void)result_double(result, "queries.scheduled", &scheduled);
    return fabs(scheduled - rate_qps * duration_s) <= 1 + 5 * sqrt(rate_qps * duration_s);
}

static bool is_constant(const struct json_object *result)
{
    static const char *const changing[] = {"options.stdin", "options.stdin-rateslope"};

    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++)
        if (result_flag(result, changing[i]))
            return false;
    return !result_is_search(result) && result_find(result, "options.schedule") == NULL &&
           result_find(result, "options.conn-schedule") == NULL;
}

/* Returns the rate requested; 0: it changed during a run, or is unknown.  Settings that differ
 * between instances are null in the merged result, so those of each run are looked at. */
static double constant_rate_qps(const struct html_report *r)
{
    double qps = 0;

    for (size_t i = 0; i < r->runs->n; i++)
        if (!is_constant(r->runs->items[i].result))
            return 0;
    return result_double(r->result, "rate.asked_qps", &qps) && was_kept(r->result, qps) ? qps : 0;
}

static const char *rate_caption(const struct rates *rates)
{
    if (rates->of_listener)
        return "Messages received per second, of those due during the measurement.";
    return rates->requested_qps > 0
               ? "Queries sent and answered per second, by the time of sending and of the answer. "
                 "The dashed line is the rate requested."
               : "Queries sent and answered per second, by the time of sending and of the answer.";
}

static const char too_few[] = "<p class=\"soft\">Too few values for a picture.</p>\n";

static void print_history(struct html_report *r, const struct history *h)
{
    const struct rates rates = {h, constant_rate_qps(r), result_is_of_listener(r->result)};
    char step[FIGURE_TEXT_BYTES], caption[400];

    snprintf(caption, sizeof caption,
             "Response time over time: the stronger the colour, the more %s, on a logarithmic "
             "scale. A column is %s s, a row a %dth of a decade. A percentile is drawn where at "
             "least 10 %s lie above it, and where it is not among the %s.",
             rates.of_listener ? "messages" : "answers", figure_number(step, h->column_s),
             HISTORY_ROWS_PER_DECADE, rates.of_listener ? "messages" : "queries",
             rates.of_listener ? "lost ones" : "unanswered ones");
    fputs("<section>\n<h2>Latency over time</h2>\n", r->out);
    if (html_plots_has_heat_map(h))
        html_picture(r->out, &r->can_draw, caption, print_heat_map, h);
    else
        fputs(too_few, r->out);
    fputs("</section>\n<section>\n<h2>Rate</h2>\n<div class=\"pair\">\n", r->out);
    if (html_plots_has_rates(h))
        html_picture(r->out, &r->can_draw, rate_caption(&rates), print_rates, &rates);
    else
        fputs(too_few, r->out);
}

struct row {
    const char *title, *path;
};

/* The duration of the schedule; 0: unknown.  A merged result has the longest of its instances'
 * only, which is that of all of them if the same was requested, or if the rates sent say so. */
static double schedule_s(const struct json_object *result)
{
    double duration_s = 0, requested_s = 0;

    (void)result_double(result, "rate.duration_s", &duration_s);
    (void)result_double(result, "options.duration", &requested_s);
    if (result_n_instances(result) == 0 || (requested_s > 0 && !result_was_interrupted(result)) ||
        fabs(result_sending_s(result) - duration_s) <= 0.01 * duration_s)
        return duration_s;
    return 0;
}

/* The scheduled rate is over the duration of the schedule, all others over the time in which
 * queries were sent; the rates of several instances add up, except those of instances that measured
 * nothing.  Returns NULL if one is unknown, or all measured nothing. */
static const char *rate_of_row(char *text, const struct recordings *runs, const struct row *row,
                               bool of_schedule)
{
    bool any = false;
    double sum_qps = 0;

    for (size_t i = 0; i < runs->n; i++) {
        const struct json_object *result = runs->items[i].result;
        const double time_s = of_schedule ? schedule_s(result) : result_sending_s(result);
        double n;

        if (!result_double(result, row->path, &n) || (n > 0 && !(time_s > 0)))
            return NULL;
        if (time_s > 0)
            sum_qps += n / time_s;
        any |= time_s > 0;
    }
    return any ? figure_per_s(text, sum_qps) : NULL;
}

/* Whether sending lasted longer than the schedule, so that what was sent and unsent per second does
 * not add up to what was scheduled. */
static bool any_was_late(const struct recordings *runs)
{
    bool is_late = false;

    for (size_t i = 0; i < runs->n; i++) {
        const double due_s = schedule_s(runs->items[i].result);

        is_late |= due_s > 0 && result_sending_s(runs->items[i].result) > 1.01 * due_s;
    }
    return is_late;
}

#define UNANSWERED(count, word, which) {word, "queries." #count},

static void print_query_rates(FILE *out, const struct html_report *r)
{
    static const struct html_column columns[] = {
        {"", true}, {"queries", false}, {"per second", false}};
    static const struct row rows[] = {{"scheduled", "queries.scheduled"},
                                      {"unsent", "queries.unsent"},
                                      {"sent", "queries.sent"},
                                      {"answered", "queries.answered"},
                                      TALLY_UNANSWERED(UNANSWERED)};
    enum { OF_SCHEDULE = 2 };
    char texts[2][FIGURE_TEXT_BYTES];

    html_table_begin(out, "Queries over the whole run", columns, 3);
    if (figure_rate(texts[0], r->result, "rate.asked_qps") != NULL)
        html_table_row(out, columns, (const char *[]){"requested", NULL, texts[0]}, 3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        html_table_row(out, columns,
                       (const char *[]){rows[i].title,
                                        figure_count(texts[0], r->result, rows[i].path),
                                        rate_of_row(texts[1], r->runs, &rows[i], i < OF_SCHEDULE)},
                       3);
    html_table_end(out);
    if (any_was_late(r->runs))
        fputs(
            "<p class=\"soft\">The client was late: the rates scheduled and unsent are per second "
            "of the schedule, the others per second until the last query was sent.</p>\n",
            out);
}

/* The rate is that of the messages due in the measurement. */
static void print_message_rates(FILE *out, const struct json_object *result)
{
    static const struct html_column columns[] = {
        {"", true}, {"messages", false}, {"per second", false}};
    static const struct row rows[] = {
        {"received", "push.measured"},   {"before the measurement", "push.before"},
        {"after it", "push.after"},      {"lost", "push.lost"},
        {"duplicate", "push.duplicate"}, {"damaged", "push.damaged"}};
    char texts[2][FIGURE_TEXT_BYTES];

    html_table_begin(out, "Messages over the whole run", columns, 3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        html_table_row(
            out, columns,
            (const char *[]){rows[i].title, figure_count(texts[0], result, rows[i].path),
                             i == 0 ? figure_value(texts[1], result, "push.messages_per_s") : NULL},
            3);
    html_table_end(out);
}

/* Some of the instances would be taken for all of them. */
static bool each_has_log(const struct recordings *runs)
{
    bool has = true;

    for (size_t i = 0; i < runs->n; i++)
        has &= runs->items[i].has_log;
    return has;
}

/* When the last measured query was due, or was sent if that was later.  Since the epoch. */
static uint64_t end_of(const struct json_object *result, uint64_t *begin_ns)
{
    const double sending_s = fmin(result_sending_s(result), 1e9);
    uint64_t end_ns;

    result_span(result, begin_ns, &end_ns);
    return (uint64_t)fmax((double)end_ns, (double)*begin_ns + sending_s * UNITS_NS_PER_S);
}

/* From the first of the runs to the last.  In a search, the trials do not cover the whole time. */
static void set_measurement(struct history *h, const struct timeline *t,
                            const struct recordings *runs)
{
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    bool any_search = false;

    for (size_t i = 0; i < runs->n; i++) {
        const struct json_object *result = runs->items[i].result;
        uint64_t begin_ns;
        const uint64_t end_ns = end_of(result, &begin_ns);

        first_ns = begin_ns < first_ns ? begin_ns : first_ns;
        last_ns = end_ns > last_ns ? end_ns : last_ns;
        any_search |= result_is_search(result);
    }
    history_set_measurement(h, t, first_ns, any_search ? 0 : last_ns);
}

static const char *why_no_history(const struct json_object *result)
{
    const bool of_listener = result_is_of_listener(result);
    uint64_t n;

    if (result_u64(result, of_listener ? "push.measured" : "queries.sent", &n) && n == 0)
        return of_listener ? "No message of the measurement was received."
                           : "No query of the measurement was sent.";
    return "Latency and rate over time need the histogram log (--hlog), with intervals, of each "
           "run.";
}

void html_over_time(struct html_report *r)
{
    struct timeline timeline;
    struct history history = {0};

    if (recordings_timeline(r->runs, &timeline) == 0 && timeline.n > 0 && each_has_log(r->runs) &&
        history_make(&history, &timeline) == 0) {
        set_measurement(&history, &timeline, r->runs);
        print_history(r, &history);
    } else {
        fprintf(r->out,
                "<section>\n<h2>Rate</h2>\n<p class=\"soft\">%s</p>\n<div class=\"pair\">\n",
                why_no_history(r->result));
    }
    if (result_is_of_listener(r->result))
        print_message_rates(r->out, r->result);
    else
        print_query_rates(r->out, r);
    fputs("</div>\n</section>\n", r->out);
    history_free(&history);
    timeline_free(&timeline);
}
