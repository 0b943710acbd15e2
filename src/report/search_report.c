/* SPDX-License-Identifier: MIT
 * search_report: see report/search_report.h. */
#include "report/search_report.h"

#include "base/units.h"
#include "report/figure.h"
#include "report/plain.h"
#include "report/result.h"

#include <stdio.h>

static const char *text_of(char text[PLAIN_BYTES], const struct json_object *object,
                           const char *path)
{
    return plain(text, result_string(object, path));
}

/* "12,345 q/s"; "-": unknown. */
static const char *load_text(char text[PLAIN_BYTES], const struct json_object *search,
                             const struct json_object *of, const char *path)
{
    char load[FIGURE_TEXT_BYTES];

    return plain(text, figure_load(load, search, of, path));
}

/* "; 12,345 q/s sustained", if it is known. */
static void print_load(const struct json_object *search, const char *path, const char *before,
                       const char *after)
{
    char text[PLAIN_BYTES];

    if (result_find(search, path) != NULL)
        printf("%s%s%s", before, load_text(text, search, search, path), after);
}

static void print_goals(const struct json_object *search)
{
    char text[PLAIN_BYTES];

    for (unsigned i = 0; result_item(search, "slo", i) != NULL; i++)
        printf("%s%s", i > 0 ? "," : "", plain(text, result_item(search, "slo", i)));
}

static void print_answer(const struct json_object *search)
{
    char text[PLAIN_BYTES];
    double value;

    printf("%-13s%s", "Capacity", text_of(text, search, "status"));
    if (figure_reason(search) != NULL)
        printf(" (%s)", plain(text, figure_reason(search)));
    print_load(search, "capacity", ": ", "");
    print_load(search, "lower", "; ", " sustained");
    print_load(search, "upper", "; ", " not");
    printf("\n%-13sservice level ", "");
    print_goals(search);
    if (result_string(search, "limited_by") != NULL)
        printf("; limited by %s", text_of(text, search, "limited_by"));
    if (figure_bound(search) != NULL)
        printf(" (%s)", figure_bound(search));
    printf("; %s", result_flag(search, "confirmed") ? "confirmed" : "not confirmed");
    if (figure_cut(search) != NULL)
        printf("; ended early: %s", plain(text, figure_cut(search)));
    if (result_double(search, "recovery_s", &value))
        printf("; recovers from an overload within %.0f s", value + 1);
    else if (result_find(search, "recovers") != NULL)
        printf("; does not recover from an overload in time");
    putchar('\n');
}

static const char *time_text(char text[FIGURE_TEXT_BYTES], const struct json_object *trial,
                             const char *path, uint32_t num, uint32_t den, uint64_t timeout_ns)
{
    const char *time = figure_trial_latency(text, trial, path, num, den, timeout_ns);

    return time != NULL ? time : "-";
}

static void print_trial(const struct json_object *search, const struct json_object *trial,
                        uint64_t timeout_ns)
{
    const char *class = result_string(trial, "class");
    char step[PLAIN_BYTES], load[PLAIN_BYTES], p50[FIGURE_TEXT_BYTES], p99[FIGURE_TEXT_BYTES],
        lost[UNITS_TEXT_BYTES], finding[FIGURE_FINDING_BYTES], text[PLAIN_BYTES];
    char length_text[FIGURE_TEXT_BYTES];
    const char *length = figure_seconds(length_text, trial, "duration_s");
    uint64_t n_lost;

    printf("  %-8s %24s %8s %10s %10s %10s  %s\n", text_of(step, trial, "step"),
           load_text(load, search, trial, "load"), length != NULL ? length : "-",
           time_text(p50, trial, "p50_ns", 1, 2, timeout_ns),
           time_text(p99, trial, "p99_ns", 99, 100, timeout_ns),
           result_u64(trial, "lost", &n_lost) ? units_format_count(lost, n_lost) : "-",
           plain(text, figure_finding(finding, class != NULL ? class : "-",
                                      result_string(trial, "reason"))));
}

void search_report(const struct json_object *search, uint64_t timeout_ns)
{
    const struct json_object *trial = result_element(search, "trials", 0);

    putchar('\n');
    print_answer(search);
    if (trial == NULL)
        return;
    printf("\n  %-8s %24s %8s %10s %10s %10s\n", "trial", "load", "length", "p50", "p99", "lost");
    for (size_t i = 0; (trial = result_element(search, "trials", i)) != NULL; i++)
        print_trial(search, trial, timeout_ns);
}

/* --- sweep --- */

static void print_point(const struct json_object *point)
{
    const struct json_object *search = result_find(point, "search");
    char at[UNITS_TEXT_BYTES], capacity[PLAIN_BYTES], lower[PLAIN_BYTES], upper[PLAIN_BYTES],
        answer[FIGURE_FINDING_BYTES], text[PLAIN_BYTES];
    uint64_t value = 0;

    (void)result_u64(point, "at", &value);
    printf("  %16s %18s %18s %18s  %s\n", units_format_count(at, value),
           load_text(capacity, search, search, "capacity"),
           load_text(lower, search, search, "lower"), load_text(upper, search, search, "upper"),
           plain(text, figure_answer(answer, search)));
}

void search_report_sweep(const struct json_object *sweep)
{
    const struct json_object *point = result_element(sweep, "points", 0);
    char over[PLAIN_BYTES];

    printf("\n%-13sservice level ", "Sweep");
    print_goals(result_find(point, "search"));
    printf("\n\n  %16s %18s %18s %18s  %s\n", text_of(over, sweep, "over"), "capacity", "sustained",
           "not sustained", "answer");
    for (size_t i = 0; (point = result_element(sweep, "points", i)) != NULL; i++)
        print_point(point);
}
