/* SPDX-License-Identifier: MIT
 * html_plots: see report/html_plots.h. */
#include "report/html_plots.h"

#include "base/units.h"
#include "report/html_plots_axes.h"
#include "report/plot_marks.h"
#include "report/plot_script.h"
#include "report/result.h"
#include "report/result_figures.h"

#include <math.h>
#include <string.h>

/* Limit on the points of each curve of what the server used. */
enum { COST_POINTS = 200 };

#define BYTES_PER_MIB 1048576.0

/* --- latency by percentile --- */

const char *const html_plots_metrics[HTML_PLOTS_METRICS] = {"response", "service", "net"};

bool html_plots_has_curve(const struct metrics *metrics, const char *name)
{
    const struct metric *m = metrics_find(metrics, name);

    return m != NULL && m->has_counts && m->hist.count > 0 && !plot_script_is_point(m);
}

void html_plots_percentiles(FILE *out, const struct metrics *metrics)
{
    const char *separator = "plot ";
    struct plot_extent times = {0};

    html_plots_head(out, "percentiles", "percentile", "time");
    fputs("set logscale xy\nset format y '%.0s %cs'\nset xtics font ',12' ('50' 2, '90' 10, '99' "
          "100, '99.9' 1e3, '99.99' 1e4, '99.999' 1e5, '99.9999' 1e6, '99.99999' 1e7)\n",
          out);
    for (int i = 0; i < HTML_PLOTS_METRICS; i++)
        if (html_plots_has_curve(metrics, html_plots_metrics[i])) {
            const struct metric *m = metrics_find(metrics, html_plots_metrics[i]);

            fprintf(out, "$d%d << EOD\n", i);
            plot_script_distribution(out, m);
            fputs("EOD\n", out);
            plot_extent_add_metric(&times, m);
        }
    plot_script_extent(out, 'y', &times);
    for (int i = 0; i < HTML_PLOTS_METRICS; i++)
        if (html_plots_has_curve(metrics, html_plots_metrics[i])) {
            fprintf(out, "%s$d%d using 1:2 with fsteps lt %d title '%s'", separator, i, i + 1,
                    html_plots_metrics[i]);
            separator = ", ";
        }
    fputc('\n', out);
}

/* --- trials of a search --- */

/* Only of trials that the server, not this host, decided. */
static bool is_judged(const struct json_object *trial)
{
    const char *class = result_string(trial, "class");

    return class != NULL && (strcmp(class, "good") == 0 || strcmp(class, "bad") == 0);
}

/* Prints a block with the time of each trial that has one, and returns their number.  A trial
 * without one would split the curve in two, because gnuplot sorts only the points between undefined
 * ones.  The first point is undefined, so that a block without trials is no error. */
static unsigned print_trials(FILE *out, const struct json_object *search, const char *block,
                             const char *path, struct plot_extent *loads, struct plot_extent *times)
{
    const struct json_object *trial;
    double load, ns;
    unsigned n = 0;

    fprintf(out, "$%s << EOD\nNaN NaN\n", block);
    for (size_t i = 0; (trial = result_element(search, "trials", i)) != NULL; i++)
        if (is_judged(trial) && result_double(trial, "load", &load) && load > 0 &&
            result_double(trial, path, &ns)) {
            fprintf(out, "%.9g %.9g\n", load, ns / UNITS_NS_PER_S);
            plot_extent_add(loads, load);
            plot_extent_add(times, ns / UNITS_NS_PER_S);
            n++;
        }
    fputs("EOD\n", out);
    return n;
}

#define BOUND_STYLE "dt 2 lw 1.5 lc rgb '#808080'"

bool html_plots_has_trials(const struct json_object *search)
{
    const struct json_object *trial;
    double p50_ns;
    unsigned n = 0;

    for (size_t i = 0; (trial = result_element(search, "trials", i)) != NULL; i++)
        n += is_judged(trial) && result_double(trial, "p50_ns", &p50_ns);
    return n > 1;
}

void html_plots_trials(FILE *out, const struct json_object *search)
{
    const char *what = result_string(search, "find");
    const bool is_rate = what != NULL && strcmp(what, "rate") == 0;
    const bool is_connect_rate = what != NULL && strcmp(what, "connect-rate") == 0;
    struct plot_extent loads = {0}, times = {0};
    unsigned n_p99;

    html_plots_head(out, "trials",
                    is_rate           ? "load, queries/s"
                    : is_connect_rate ? "load, connections/s"
                                      : "load, connections",
                    "response time");
    (void)print_trials(out, search, "p50", "p50_ns", &loads, &times);
    n_p99 = print_trials(out, search, "p99", "p99_ns", &loads, &times);
    fputs("set logscale y\nset format y '%.0s %cs'\n", out);
    plot_script_bound(out, search, "lower", BOUND_STYLE, &loads);
    plot_script_bound(out, search, "upper", BOUND_STYLE, &loads);
    plot_script_reach(out, &loads, &times);
    plot_marks_loads(out, loads.low, loads.high);
    plot_script_extent(out, 'y', &times);
    fputs("plot $p50 using 1:2 smooth unique with lines lt 1 title 'p50', ", out);
    if (n_p99 > 0)
        fputs("$p99 using 1:2 smooth unique with lines lt 2 title 'p99', ", out);
    fputs(PLOT_SCRIPT_REACH "\n", out);
}

/* --- what the server used --- */

/* Samples closer together than this, such as the last one of the run and the one before it, are
 * left out: CPU time is counted in clock ticks, which are too coarse for them. */
#define SHORTEST_CPU_NS 500000000.0

static bool has_point(const struct watch_sample *s, enum watch_figure figure)
{
    return s->at[WATCH_CONNECTIONS] != WATCH_UNKNOWN && s->at[figure] != WATCH_UNKNOWN;
}

static size_t count_points(const struct watch_series *samples, enum watch_figure figure)
{
    size_t n = 0;

    for (size_t i = 0; i < samples->n; i++)
        n += has_point(&samples->items[i], figure);
    return n;
}

bool html_plots_has_memory(const struct watch_series *samples, enum watch_figure user)
{
    return count_points(samples, user) > 1;
}

/* The highest values of all points in the picture. */
struct highest {
    double connections, mib;
};

/* Prints about COST_POINTS of the known points; some figures are in few samples only.  In MiB:
 * gnuplot puts ticks at round numbers, which bytes in binary units are not.  The first point is
 * undefined, so that a block without others is no error. */
static void print_points(FILE *out, const char *block, const struct watch_series *samples,
                         enum watch_figure figure, struct highest *highest)
{
    const size_t every = count_points(samples, figure) / COST_POINTS + 1;
    size_t n = 0;

    fprintf(out, "$%s << EOD\nNaN NaN\n", block);
    for (size_t i = 0; i < samples->n; i++) {
        const struct watch_sample *s = &samples->items[i];
        const double connections = (double)s->at[WATCH_CONNECTIONS];
        const double mib = (double)s->at[figure] / BYTES_PER_MIB;

        if (!has_point(s, figure) || n++ % every != 0)
            continue;
        fprintf(out, "%.9g %.9g\n", connections, mib);
        highest->connections = fmax(highest->connections, connections);
        highest->mib = fmax(highest->mib, mib);
    }
    fputs("EOD\n", out);
}

void html_plots_memory(FILE *out, const struct watch_series *samples, enum watch_figure user)
{
    struct highest highest = {0};

    html_plots_head(out, "memory", "connections", "memory of the server, MiB");
    print_points(out, "user", samples, user, &highest);
    print_points(out, "kernel", samples, WATCH_CGROUP_KERNEL_BYTES, &highest);
    html_plots_x_counts(out, fmax(highest.connections, 1));
    html_plots_y_range(out, highest.mib, 0.001);
    fputs("plot $user with lines lt 1 title 'user'", out);
    if (count_points(samples, WATCH_CGROUP_KERNEL_BYTES) > 0)
        fputs(", $kernel with lines lt 2 title 'kernel'", out);
    fputc('\n', out);
}

static double ns_between(const struct watch_sample *a, const struct watch_sample *b)
{
    return (double)b->at[WATCH_EPOCH_NS] - (double)a->at[WATCH_EPOCH_NS];
}

static double busy(const struct watch_sample *a, const struct watch_sample *b,
                   enum watch_figure figure)
{
    const double ns = ns_between(a, b);

    if (a->at[figure] == WATCH_UNKNOWN || b->at[figure] == WATCH_UNKNOWN || !(ns > 0))
        return NAN;
    return ((double)b->at[figure] - (double)a->at[figure]) * 1e3 / ns;
}

bool html_plots_has_cpu(const struct watch_series *samples)
{
    return samples->n > 1 &&
           ns_between(&samples->items[0], &samples->items[samples->n - 1]) >= SHORTEST_CPU_NS;
}

void html_plots_cpu(FILE *out, const struct watch_series *samples)
{
    const struct watch_sample *first = &samples->items[0], *before = first;
    const size_t every = samples->n / COST_POINTS + 1;
    double most_busy = 0;

    html_plots_head(out, "cpu", "time since the first sample, s", "CPUs busy");
    fputs("$d << EOD\n", out);
    for (size_t i = every; i < samples->n; i += every) {
        const struct watch_sample *s = &samples->items[i];
        const double user = busy(before, s, WATCH_USER_US);
        const double system = busy(before, s, WATCH_SYSTEM_US);

        if (ns_between(before, s) < SHORTEST_CPU_NS)
            continue;
        fprintf(out, "%.9g %.6g %.6g\n", ns_between(first, s) / UNITS_NS_PER_S, user, system);
        most_busy = fmax(most_busy, fmax(user, system)); /* which ignores NAN */
        before = s;
    }
    fputs("EOD\n", out);
    html_plots_x_range(out, ns_between(first, &samples->items[samples->n - 1]) / UNITS_NS_PER_S);
    html_plots_y_range(out, most_busy, 0.01);
    fputs("plot $d using 1:2 with lines lt 1 title 'user', "
          "$d using 1:3 with lines lt 2 title 'system'\n",
          out);
}

/* --- searches of a sweep --- */

#define CAPACITY_TITLE_BYTES 64

/* Whether a point is drawn: one bound without the other is not. gnuplot fails if nothing is drawn.
 */
static bool has_mark(const struct json_object *point)
{
    double value;

    return result_double(point, "search.capacity", &value) ||
           (result_double(point, "search.lower", &value) &&
            result_double(point, "search.upper", &value));
}

bool html_plots_has_sweep(const struct json_object *sweep)
{
    const struct json_object *point;
    unsigned n = 0;
    double at;

    for (size_t i = 0; (point = result_element(sweep, "points", i)) != NULL; i++)
        n += result_double(point, "at", &at) && has_mark(point);
    return n > 1;
}

/* Fills in the title of the axis, with the unit that the searches have in common. */
static void capacity_title(char title[CAPACITY_TITLE_BYTES], const struct json_object *sweep)
{
    const char *unit = result_sweep_unit(sweep);

    snprintf(title, CAPACITY_TITLE_BYTES, "capacity%s%s", unit != NULL ? ", " : "",
             unit != NULL ? unit : "");
}

/* Returns the highest of all capacities and bounds; at least 0. */
static double highest_of(const struct json_object *sweep)
{
    static const char *const paths[] = {"search.capacity", "search.lower", "search.upper"};
    const struct json_object *point;
    double highest = 0, value;

    for (size_t i = 0; (point = result_element(sweep, "points", i)) != NULL; i++)
        for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
            if (result_double(point, paths[k], &value))
                highest = fmax(highest, value);
    return highest;
}

/* Error bars are thick lines; bounds without an answer are thin lines with a dash between them.
 * Points would need gnuplot's definitions, which are left out of the page. */
void html_plots_sweep(FILE *out, const struct json_object *sweep)
{
    const char *over = result_string(sweep, "over");
    struct plot_extent values = {0};
    char title[CAPACITY_TITLE_BYTES];

    capacity_title(title, sweep);
    html_plots_head(out, "sweep", over != NULL ? over : "", title);
    fputs("$d << EOD\n", out);
    plot_script_sweep(out, sweep, &values);
    fputs("EOD\nset format y '%.10g'\n", out);
    plot_marks_loads(out, values.low, values.high);
    html_plots_y_range(out, highest_of(sweep), 1e-6);
    fputs("set offsets 0, 0, graph 0.05, 0\n"
          "plot $d using 1:2 with lines lt 1 notitle, "
          "$d using 1:3:(0):($4-$3) with vectors nohead lt 1 notitle, "
          "$d using ($1/1.02):7:($1*0.04):(0) with vectors nohead lt 1 notitle, "
          "$d using 1:($2 > 0 ? $3 : NaN):(0):($4-$3) with vectors nohead lt 1 lw 5 notitle\n",
          out);
}
