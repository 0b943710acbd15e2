/* SPDX-License-Identifier: MIT
 * report_sweep: see client/report_sweep.h. */
#include "client/report_sweep.h"

#include "base/units.h"
#include "client/find_bound.h"
#include "client/report_search.h"
#include "client/report_search_csv.h"
#include "client/report_search_json.h"
#include "client/report_search_text.h"
#include "client/search/search_bounds.h"
#include "client/search/search_names.h"

#include <inttypes.h>

static bool is_single(const struct client_sweep *sweep)
{
    return sweep->axis == CLIENT_SWEEP_NONE;
}

/* --- text --- */

static const char *load_text(char *text, double load)
{
    return load > 0 ? report_search_load(text, load) : "-";
}

static void print_row(FILE *out, const struct client_sweep *sweep, unsigned i)
{
    const struct client_find *f = sweep->points[i].find;
    const struct search *s = &f->search;
    const bool begun = i < sweep->n_begun;
    const char *binding = report_search_binding(f);
    const char *reason = begun ? search_reason_name(s->reason) : NULL;
    char at[UNITS_TEXT_BYTES], a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];
    double lower, upper;

    search_bounds(s, &lower, &upper);
    fprintf(out, "  %16s %14s %14s %14s  %s%s%s%s%s\n", units_format_count(at, sweep->points[i].at),
            load_text(a, search_capacity(s)), load_text(b, lower), load_text(c, upper),
            begun ? search_status_name(s->status) : "not reached", reason != NULL ? ", " : "",
            reason != NULL ? reason : "", binding != NULL ? ": " : "",
            binding != NULL ? binding : "");
}

static bool is_inconclusive(const struct client_sweep *sweep, unsigned i)
{
    return i < sweep->n_begun && sweep->points[i].find->search.status == SEARCH_INCONCLUSIVE;
}

static enum search_reason reason_of(const struct client_sweep *sweep, unsigned i)
{
    return sweep->points[i].find->search.reason;
}

/* Whether what helps depends on the value: the causes of void trials may differ, and so may what
 * the searches without a confirmation lacked. */
static bool is_particular(const struct client_sweep *sweep, unsigned i)
{
    const bool needs_min = report_search_text_needs_smaller_min(sweep->points[i].find);

    for (unsigned k = 0; k < sweep->n; k++)
        if (is_inconclusive(sweep, k) && reason_of(sweep, k) == reason_of(sweep, i) &&
            report_search_text_needs_smaller_min(sweep->points[k].find) != needs_min)
            return true;
    return reason_of(sweep, i) == SEARCH_VOID;
}

/* Whether an earlier search is inconclusive for the same reason. */
static bool is_explained(const struct client_sweep *sweep, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (is_inconclusive(sweep, k) && reason_of(sweep, k) == reason_of(sweep, i))
            return true;
    return false;
}

static void explain_reasons(FILE *out, const struct client_sweep *sweep)
{
    char at[UNITS_TEXT_BYTES];

    for (unsigned i = 0; i < sweep->n; i++) {
        const bool alone = is_inconclusive(sweep, i) && is_particular(sweep, i);

        if (!is_inconclusive(sweep, i) || (!alone && is_explained(sweep, i)))
            continue;
        if (alone)
            fprintf(out, "  %s %s: ", client_sweep_axis_name(sweep),
                    units_format_count(at, sweep->points[i].at));
        else
            fprintf(out, "  %s: ", search_reason_name(reason_of(sweep, i)));
        report_search_text_why(out, sweep->points[i].find);
        fputc('\n', out);
    }
}

static void print_table(FILE *out, const struct client_sweep *sweep)
{
    const struct slo *slo = &sweep->settings.slo;

    fputs("Sweep        service level ", out);
    for (unsigned i = 0; i < slo->n; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", slo->goals[i].text);
    fprintf(out, "; loads in %s\n\n  %16s %14s %14s %14s  %s\n",
            report_search_unit(sweep->points[0].find), client_sweep_axis_name(sweep), "capacity",
            "sustained", "not sustained", "answer");
    for (unsigned i = 0; i < sweep->n; i++)
        print_row(out, sweep, i);
    explain_reasons(out, sweep);
}

void report_sweep_text(FILE *out, const struct client_sweep *sweep)
{
    if (sweep == NULL)
        return;
    if (is_single(sweep))
        report_search_text(out, sweep->points[0].find);
    else
        print_table(out, sweep);
}

/* --- JSON --- */

static void put_points(struct json *j, const struct client_sweep *sweep)
{
    json_object_begin(j, "sweep");
    json_string(j, "over", client_sweep_axis_name(sweep));
    json_array_begin(j, "points");
    for (unsigned i = 0; i < sweep->n; i++) {
        json_object_begin(j, NULL);
        json_u64(j, "at", sweep->points[i].at);
        report_search_json(j, i < sweep->n_begun ? sweep->points[i].find : NULL);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

void report_sweep_json(struct json *j, const struct client_sweep *sweep)
{
    const bool has_points = sweep != NULL && !is_single(sweep);

    report_search_json(j, sweep != NULL && is_single(sweep) ? sweep->points[0].find : NULL);
    if (has_points)
        put_points(j, sweep);
    else
        json_null(j, "sweep");
}

/* --- CSV --- */

void report_sweep_trials_csv(FILE *out, const struct client_sweep *sweep)
{
    report_search_csv_header(out);
    for (unsigned i = 0; i < sweep->n_begun; i++)
        report_search_csv(out, sweep->points[i].find, sweep->points[i].at);
}

static void print_load(FILE *out, double load)
{
    if (load > 0)
        fprintf(out, "%.10g", load);
    fputc(',', out);
}

void report_sweep_csv(FILE *out, const struct client_sweep *sweep)
{
    fprintf(out, "%s,status,capacity,lower,upper,limited_by,bound_by,confirmed,elapsed_s\n",
            client_sweep_axis_name(sweep));
    for (unsigned i = 0; i < sweep->n_begun; i++) {
        const struct client_find *f = sweep->points[i].find;
        const char *binding = report_search_binding(f), *bound = client_find_bound_name(f);
        double lower, upper;

        search_bounds(&f->search, &lower, &upper);
        fprintf(out, "%" PRIu64 ",%s,", sweep->points[i].at, search_status_name(f->search.status));
        print_load(out, search_capacity(&f->search));
        print_load(out, lower);
        print_load(out, upper);
        fprintf(out, "%s,%s,%d,%.6f\n", binding != NULL ? binding : "", bound != NULL ? bound : "",
                f->search.confirmed, (double)f->elapsed_ns / 1e9);
    }
}
