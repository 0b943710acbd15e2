/* SPDX-License-Identifier: MIT
 * search_report: see report/search_report.h. */
#include "report/search_report.h"

#include "base/units.h"
#include "report/figure.h"
#include "report/result.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const struct json_object *object, const char *path)
{
    const char *text = result_string(object, path);

    return text != NULL ? text : "-";
}

/* Of a load: a number and its unit. */
enum { LOAD_TEXT_BYTES = 2 * UNITS_TEXT_BYTES };

/* "12,345 q/s" */
static const char *load_text(char text[LOAD_TEXT_BYTES], const struct json_object *search,
                             double load)
{
    char count[UNITS_TEXT_BYTES];

    if (load < 1000 && load != floor(load))
        snprintf(text, LOAD_TEXT_BYTES, "%.4g %.20s", load, text_of(search, "unit"));
    else
        snprintf(text, LOAD_TEXT_BYTES, "%s %.20s",
                 units_format_count(count, (uint64_t)fmin(fmax(load + 0.5, 0), 1e18)),
                 text_of(search, "unit"));
    return text;
}

static void print_answer(const struct json_object *search)
{
    const char *status = text_of(search, "status");
    char text[LOAD_TEXT_BYTES];
    double value;

    printf("%-13s%s", "Capacity", status);
    if (result_string(search, "reason") != NULL)
        printf(" (%s)", result_string(search, "reason"));
    if (result_double(search, "capacity", &value))
        printf(": %s", load_text(text, search, value));
    if (result_double(search, "lower", &value))
        printf("; %s sustained", load_text(text, search, value));
    if (result_double(search, "upper", &value))
        printf("; %s not", load_text(text, search, value));
    printf("\n%-13sservice level ", "");
    for (unsigned i = 0; result_item(search, "slo", i) != NULL; i++)
        printf("%s%s", i > 0 ? "," : "", result_item(search, "slo", i));
    if (result_string(search, "limited_by") != NULL)
        printf("; limited by %s", result_string(search, "limited_by"));
    printf("; %s", result_flag(search, "confirmed") ? "confirmed" : "not confirmed");
    if (result_double(search, "recovery_s", &value))
        printf("; recovers from an overload within %.0f s", value + 1);
    else if (result_find(search, "recovers") != NULL)
        printf("; does not recover from an overload in time");
    putchar('\n');
}

static const char *time_text(char text[UNITS_TEXT_BYTES], const struct json_object *trial,
                             const char *path)
{
    uint64_t ns;

    return result_u64(trial, path, &ns) ? units_format_duration(text, ns) : "-";
}

static void print_trial(const struct json_object *search, const struct json_object *trial)
{
    char load[LOAD_TEXT_BYTES], p50[UNITS_TEXT_BYTES], p99[UNITS_TEXT_BYTES],
        lost[UNITS_TEXT_BYTES], finding[FIGURE_FINDING_BYTES];
    double value = 0, duration_s = 0;
    uint64_t n_lost;

    (void)result_double(trial, "load", &value);
    (void)result_double(trial, "duration_s", &duration_s);
    printf("  %-8s %20s %6.2f s %10s %10s %10s  %s\n", text_of(trial, "step"),
           load_text(load, search, value), duration_s, time_text(p50, trial, "p50_ns"),
           time_text(p99, trial, "p99_ns"),
           result_u64(trial, "lost", &n_lost) ? units_format_count(lost, n_lost) : "-",
           figure_finding(finding, text_of(trial, "class"), result_string(trial, "reason")));
}

void search_report(const struct json_object *search)
{
    struct json_object *trials = result_find(search, "trials");

    putchar('\n');
    print_answer(search);
    if (!json_object_is_type(trials, json_type_array))
        return;
    printf("\n  %-8s %20s %8s %10s %10s %10s\n", "trial", "load", "length", "p50", "p99", "lost");
    for (size_t i = 0; i < json_object_array_length(trials); i++)
        print_trial(search, json_object_array_get_idx(trials, i));
}

/* --- sweep --- */

static const char *known_load(char text[LOAD_TEXT_BYTES], const struct json_object *search,
                              const char *path)
{
    double load;

    return result_double(search, path, &load) ? load_text(text, search, load) : "-";
}

static void print_point(const struct json_object *point)
{
    const struct json_object *search = result_find(point, "search");
    const char *status = result_string(search, "status");
    char at[UNITS_TEXT_BYTES], capacity[LOAD_TEXT_BYTES], lower[LOAD_TEXT_BYTES],
        upper[LOAD_TEXT_BYTES], finding[FIGURE_FINDING_BYTES];
    uint64_t value = 0;

    (void)result_u64(point, "at", &value);
    printf("  %16s %18s %18s %18s  %s\n", units_format_count(at, value),
           known_load(capacity, search, "capacity"), known_load(lower, search, "lower"),
           known_load(upper, search, "upper"),
           figure_finding(finding, status != NULL ? status : "not reached",
                          result_string(search, "limited_by")));
}

void search_report_sweep(const struct json_object *sweep)
{
    const struct json_object *point;

    printf("\n  %16s %18s %18s %18s  %s\n", text_of(sweep, "over"), "capacity", "sustained",
           "not sustained", "answer");
    for (size_t i = 0; (point = result_element(sweep, "points", i)) != NULL; i++)
        print_point(point);
}
