/* SPDX-License-Identifier: MIT
 * plot: see report/plot.h. */
#include "report/plot.h"

#include "base/units.h"
#include "report/plot_script.h"
#include "report/plot_search.h"
#include "report/plot_sweep.h"
#include "report/recordings.h"
#include "report/result.h"
#include "report/result_figures.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* More points of a ramp than are visible. */
enum { RAMP_POINTS = 2000 };

/* --- what is needed --- */

static bool has_interval_of(const struct recording *r, const char *metric)
{
    for (size_t i = 0; i < r->timeline.n; i++)
        if (strcmp(r->timeline.entries[i].tag, strcmp(metric, "response") == 0 ? "" : metric) == 0)
            return true;
    return false;
}

static bool has_counts_of(const struct recording *r, const char *metric)
{
    const struct metric *m = metrics_find(&r->metrics, metric);

    return m != NULL && m->has_counts && m->hist.count > 0;
}

static bool any_has_counts_of(const struct recordings *all, const char *metric)
{
    bool has = false;

    for (size_t i = 0; i < all->n; i++)
        has |= has_counts_of(&all->items[i], metric);
    return has;
}

static bool has_rate(const struct recording *r)
{
    double qps;

    return r->result != NULL && result_double(r->result, "rate.asked_qps", &qps) && qps > 0 &&
           result_double(r->result, "rate.achieved_qps", &qps);
}

/* What the trials of a search, or the searches of a sweep, lack. */
static const char *lacks_capacity(const struct recording *r, bool of_sweeps)
{
    if (of_sweeps)
        return plot_sweep_has_points(r) ? NULL : "no search of this sweep has an answer or a bound";
    if (plot_search_has_trials(r))
        return NULL;
    return result_find(r->result, "search") != NULL
               ? "no trial of this search has a p99"
               : "no trials with a p99: expected the --json files of capacity searches (--find), "
                 "or of sweeps only (--sweep)";
}

/* What the files of a run lack; a file that was given has no such values. */
static const char *lacks(const struct recording *r, enum plot_kind kind, const char *metric,
                         bool of_sweeps)
{
    switch (kind) {
    case PLOT_LATENCY:
        if (has_counts_of(r, metric))
            return NULL;
        return r->has_values
                   ? "no values of this metric in its log or rows"
                   : "no values of this metric: expected an --hlog file or the rows of -R";
    case PLOT_TIME:
        if (has_interval_of(r, metric))
            return NULL;
        return r->has_log ? "no intervals of this metric in its log"
                          : "no intervals of this metric: expected an --hlog file";
    case PLOT_CONNECT:
        if (r->connections.times[CONNECTIONS_ESTABLISHED].n > 0)
            return NULL;
        return r->has_connections ? "no connection was established"
                                  : "no connections: expected a --connections-out file";
    case PLOT_RECOVERY:
        if (r->connections.times[CONNECTIONS_LOST].n > 0)
            return NULL;
        return r->has_connections
                   ? "no lost connections: the run lost none, or had no --reconnect"
                   : "no lost connections: expected a --connections-out file of --reconnect";
    case PLOT_RATE:
        if (has_rate(r))
            return NULL;
        return r->result != NULL ? "no rates in its result: the run had none, or measured nothing"
                                 : "no rates: expected the --json file of a run with a rate";
    case PLOT_CAPACITY:
        return lacks_capacity(r, of_sweeps);
    }
    return NULL;
}

/* Whether the file with what is drawn was given. */
static bool has_file_for(const struct recording *r, enum plot_kind kind, bool of_sweeps)
{
    switch (kind) {
    case PLOT_LATENCY:
        return r->has_values;
    case PLOT_TIME:
        return r->has_log;
    case PLOT_CONNECT:
    case PLOT_RECOVERY:
        return r->has_connections;
    case PLOT_RATE:
        return r->result != NULL;
    case PLOT_CAPACITY:
        return result_find(r->result, of_sweeps ? "sweep" : "search") != NULL;
    }
    return false;
}

void plot_select(struct recordings *drawn, const struct recordings *all, enum plot_kind kind,
                 const char *metric, void (*left_out)(const char *name, const char *why))
{
    const bool of_sweeps = plot_sweep_are_all(all);
    size_t n_drawable = 0;

    for (size_t i = 0; i < all->n; i++)
        n_drawable += lacks(&all->items[i], kind, metric, of_sweeps) == NULL;
    drawn->n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct recording *r = &all->items[i];
        const char *why = lacks(r, kind, metric, of_sweeps);

        if (why != NULL && n_drawable > 0 && has_file_for(r, kind, of_sweeps))
            left_out(r->name, why);
        else
            drawn->items[drawn->n++] = *r;
    }
}

const char *plot_lacks(const struct recordings *all, enum plot_kind kind, const char *metric,
                       const char **name)
{
    const bool of_sweeps = plot_sweep_are_all(all);

    for (size_t i = 0; i < all->n; i++) {
        const char *what = lacks(&all->items[i], kind, metric, of_sweeps);

        *name = all->items[i].name;
        if (what != NULL)
            return what;
    }
    if (kind == PLOT_TIME && !any_has_counts_of(all, metric))
        return "no values of this metric in any interval: expected the --hlog file of a run that "
               "has some";
    if (kind == PLOT_CAPACITY && of_sweeps && !plot_sweep_fit(all))
        return "not all sweeps are over the same option with searches in the same unit";
    if (kind == PLOT_CAPACITY && !of_sweeps && !plot_search_fit(all))
        return "not all searches have the same unit";
    return NULL;
}

/* --- latency by percentile --- */

static void print_latency(FILE *out, const struct recordings *all, const char *metric,
                          enum plot_form form)
{
    struct plot_extent times = {0};
    bool has_curve = false, has_point = false;

    plot_head(out, form, "Latency by percentile");
    plot_key(out, form, all);
    for (size_t i = 0; i < all->n; i++) {
        const struct metric *m = metrics_find(&all->items[i].metrics, metric);

        fprintf(out, "$d%zu << EOD\n", i);
        plot_script_distribution(out, m);
        fputs("EOD\n", out);
        plot_extent_add_metric(&times, m);
        has_curve |= !plot_script_is_point(m);
        has_point |= plot_script_is_point(m);
    }
    plot_time_axis(out, form, metric);
    plot_script_extent(out, 'y', &times);
    if (has_point) /* beside the frame, not on it */
        fprintf(out, "set xrange [0.9:%s]\n", has_curve ? "*" : "10");
    fputs("set logscale x\nset xlabel 'percentile'\n"
          "set xtics ('0' 1, '50' 2, '90' 10, '99' 100, '99.9' 1e3, '99.99' 1e4, '99.999' 1e5, "
          "'99.9999' 1e6, '99.99999' 1e7)\n",
          out);
    for (size_t i = 0; i < all->n; i++)
        plot_block(out, all, i,
                   plot_script_is_point(metrics_find(&all->items[i].metrics, metric))
                       ? "using 1:2 with points"
                       : "using 1:2 with fsteps");
    fputc('\n', out);
}

/* --- over time: all runs side by side --- */

/* A log has no interval without values.  Those of several logs, whose ticks are up to half a second
 * apart, may leave less than this between two seconds. */
#define LONGEST_PAUSE_NS (UNITS_NS_PER_S / 2)

/* With more dots, they would hide each other and the curves below. */
enum { MOST_SECONDS_WITH_DOTS = 150 };

struct seconds {
    uint64_t first_ns, end_ns; /* of the first interval, and of the last one printed */
    size_t n;
    struct plot_extent times;
    bool has_p50, has_p99;
};

/* Leaves a gap if the percentile has too few samples or falls among the unanswered.  Returns
 * whether it is known. */
static bool print_percentile(FILE *out, const struct hist *h, uint32_t num, uint32_t den,
                             struct plot_extent *times)
{
    const uint64_t value_ns = hist_percentile(h, num, den);
    const double value_s = (double)value_ns / UNITS_NS_PER_S;
    const bool is_known = hist_percentile_is_supported(h, num, den) && value_ns != HIST_BEYOND;

    if (is_known) {
        fprintf(out, " %.9g", value_s);
        plot_extent_add(times, value_s);
    } else {
        fputs(" NaN", out);
    }
    return is_known;
}

static void print_second(FILE *out, const struct timeline_entry *e, struct seconds *s,
                         const struct hist *h)
{
    const double most_s = (double)h->max_ns / UNITS_NS_PER_S;

    if (e->begin_ns > s->end_ns + LONGEST_PAUSE_NS)
        fprintf(out, "%.3f NaN NaN NaN\n", (double)(s->end_ns - s->first_ns) / UNITS_NS_PER_S);
    s->end_ns = e->begin_ns + e->length_ns;
    s->n++;
    fprintf(out, "%.3f",
            ((double)(e->begin_ns - s->first_ns) + (double)e->length_ns / 2) / UNITS_NS_PER_S);
    s->has_p50 |= print_percentile(out, h, 1, 2, &s->times);
    s->has_p99 |= print_percentile(out, h, 99, 100, &s->times);
    if (h->count > 0) {
        fprintf(out, " %.9g\n", most_s);
        plot_extent_add(&s->times, most_s);
    } else {
        fputs(" NaN\n", out);
    }
}

/* A second between two gaps has no line, but its dots. */
static void print_time_curves(FILE *out, const struct seconds *s)
{
    const char *style = s->n > MOST_SECONDS_WITH_DOTS ? " lw 1 ps 0.2" : "";

    fprintf(out,
            "set xlabel 'time since the start of the log, s'\nset xrange [0:*]\n"
            "plot $d using 1:4 with linespoints lt 2%s title 'maximum'",
            style);
    if (s->has_p99)
        fprintf(out, ", \\\n     $d using 1:3 with linespoints lt 3%s title 'p99'", style);
    if (s->has_p50)
        fprintf(out, ", \\\n     $d using 1:2 with linespoints lt 1%s title 'p50'", style);
    fputc('\n', out);
}

static int print_time(FILE *out, const struct recordings *all, const char *metric,
                      enum plot_form form)
{
    const char *tag = strcmp(metric, "response") == 0 ? "" : metric;
    struct timeline timeline;
    struct timeline_entry e;
    struct hist h;
    size_t at = 0;
    int status = recordings_timeline(all, &timeline) | hist_init(&h);
    const uint64_t first_ns = timeline_first_ns(&timeline);
    struct seconds seconds = {.first_ns = first_ns, .end_ns = first_ns};

    plot_head(out, form, all->n == 1 ? "Latency over time" : "Latency of all runs over time");
    fputs("$d << EOD\n", out);
    while (status == 0 && (status = timeline_next(&timeline, &at, &e, &h)) > 0) {
        status = 0;
        if (strcmp(e.tag, tag) == 0)
            print_second(out, &e, &seconds, &h);
    }
    fputs("EOD\n", out);
    plot_time_axis(out, form, metric);
    plot_script_extent(out, 'y', &seconds.times);
    print_time_curves(out, &seconds);
    timeline_free(&timeline);
    hist_free(&h);
    return status;
}

/* --- connect ramp --- */

static void print_ramp(FILE *out, const struct recordings *all, enum plot_form form)
{
    plot_head(out, form, "Connect ramp");
    plot_key(out, form, all);
    for (size_t i = 0; i < all->n; i++) {
        fprintf(out, "$d%zu << EOD\n", i);
        plot_script_ramp(out, &all->items[i], RAMP_POINTS);
        fputs("EOD\n", out);
    }
    fputs("set xlabel 'time since connecting began, s'\nset ylabel 'connections established'\n"
          "set yrange [0:*]\nset xrange [0:*]\n",
          out);
    plot_blocks(out, all, "using 1:2 with steps");
}

/* --- lost connections that come back --- */

static void print_recovery(FILE *out, const struct recordings *all, enum plot_form form)
{
    double last_s = 0;

    plot_head(out, form, "Recovery");
    plot_key(out, form, all);
    for (size_t i = 0; i < all->n; i++) {
        fprintf(out, "$l%zu << EOD\n", i);
        last_s =
            fmax(last_s, plot_script_recovery(out, &all->items[i], RAMP_POINTS, CONNECTIONS_LOST));
        fprintf(out, "EOD\n$d%zu << EOD\n", i);
        plot_script_recovery(out, &all->items[i], RAMP_POINTS, CONNECTIONS_BACK);
        fputs("EOD\n", out);
    }
    fputs("set xlabel 'time since the first loss, s'\nset ylabel 'connections'\n"
          "set yrange [0:*]\nset offsets 0, 0, graph 0.05, 0\n",
          out);
    /* gnuplot warns of an empty range */
    fprintf(out, "set xrange [0:%s]\n", last_s > 0 ? "*" : "1");
    for (size_t i = 0; i < all->n; i++) {
        fprintf(out, "%s$l%zu using 1:2 with steps lt %zu dt 2 title ",
                i == 0 ? "plot " : ", \\\n     ", i, i + 1);
        plot_name(out, &all->items[i]);
        fprintf(out, ".' lost', $d%zu using 1:2 with steps lt %zu title ", i, i + 1);
        plot_name(out, &all->items[i]);
        fputs(".' back'", out);
    }
    fputc('\n', out);
}

/* --- achieved and requested rate --- */

static void print_rates_of(FILE *out, const struct recordings *all, bool valid)
{
    double requested_qps, achieved_qps;
    uint64_t answered;

    for (size_t i = 0; i < all->n; i++) {
        const struct json_object *result = all->items[i].result;

        if ((result_verdict(result) == RESULT_VALID) == valid &&
            result_double(result, "rate.asked_qps", &requested_qps) &&
            result_double(result, "rate.achieved_qps", &achieved_qps) &&
            result_u64(result, "queries.answered", &answered))
            fprintf(out, "%.9g %.9g %.9g\n", requested_qps, achieved_qps,
                    (double)answered / result_sending_s(result));
    }
}

static void print_rates(FILE *out, const struct recordings *all, enum plot_form form)
{
    plot_head(out, form, "Achieved and requested rate");
    for (int valid = 0; valid < 2; valid++) {
        /* an undefined point, so that a block without runs is no error */
        fprintf(out, "$d%d << EOD\nNaN NaN NaN\n", valid);
        print_rates_of(out, all, valid == 1);
        fputs("EOD\n", out);
    }
    fputs("set xlabel 'requested, queries/s'\nset ylabel 'queries/s'\nset format '%.10g'\nset "
          "xrange [0:*]\nset yrange [0:*]\nset samples 2\nset offsets 0, graph 0.05, graph 0.05, "
          "0\nplot x with lines lt 7 dt 2 title 'requested', \\\n     $d1 using 1:2 with points lt "
          "1 pt 7 ps 1.5 title 'sent, VALID', \\\n     $d0 using 1:2 with points lt 2 pt 6 ps 1.5 "
          "title 'sent, not VALID', \\\n     $d1 using 1:3 with points lt 3 pt 1 ps 1.5 title "
          "'answered', \\\n     $d0 using 1:3 with points lt 3 pt 1 ps 1.5 notitle\n",
          out);
}

int plot_print(FILE *script, const struct recordings *all, enum plot_kind kind, const char *metric,
               enum plot_form form)
{
    switch (kind) {
    case PLOT_LATENCY:
        print_latency(script, all, metric, form);
        break;
    case PLOT_TIME:
        return print_time(script, all, metric, form);
    case PLOT_CONNECT:
        print_ramp(script, all, form);
        break;
    case PLOT_RECOVERY:
        print_recovery(script, all, form);
        break;
    case PLOT_RATE:
        print_rates(script, all, form);
        break;
    case PLOT_CAPACITY:
        if (plot_sweep_are_all(all))
            plot_sweep_print(script, all, form);
        else
            plot_search_trials(script, all, form);
        break;
    }
    return 0;
}
