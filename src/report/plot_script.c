/* SPDX-License-Identifier: MIT
 * plot_script: see report/plot_script.h. */
#include "report/plot_script.h"

#include "base/units.h"
#include "base/utf8.h"
#include "report/recording.h"
#include "report/result.h"

#include <math.h>

/* A point whose rarity exceeds that of the last one by less than this is not visible. */
#define VISIBLE_STEP 1.01

void plot_script_quote(FILE *out, const char *text)
{
    uint32_t character;

    fputc('\'', out);
    while (*text != '\0') {
        const unsigned n = utf8_take((const unsigned char *)text, &character);

        if (*text == '\'')
            fputc('\'', out);
        if (n == 0 || utf8_control_bytes(text) > 0 || (character & ~1u) == 0xfffe)
            fputc('?', out);
        else
            fwrite(text, 1, n, out);
        text += n > 0 ? n : 1;
    }
    fputc('\'', out);
}

void plot_script_label(FILE *out, const char *what, const char *unit)
{
    plot_script_quote(out, what);
    if (unit == NULL)
        return;
    fputs(".', '.", out);
    plot_script_quote(out, unit);
}

/* For a logarithmic axis: values below the lowest bucket are counted in it, and drawn there. */
static double drawn_s(uint64_t ns)
{
    return (double)(ns > HIST_LOWEST_NS ? ns : HIST_LOWEST_NS) / UNITS_NS_PER_S;
}

void plot_script_distribution(FILE *out, const struct metric *m)
{
    const struct hist *h = &m->hist;
    const double n = (double)(h->count + h->beyond);
    double rarity, last = 1;
    uint64_t seen = 0;

    fprintf(out, "1 %.9g\n", drawn_s(h->min_ns));
    for (uint32_t i = hist_index(h->min_ns); i <= hist_index(h->max_ns); i++) {
        const uint64_t value_ns = hist_value_of(h, i);

        seen += h->counts[i];
        rarity = seen == h->count && h->beyond == 0 ? n : n / (n - (double)seen);
        if (h->counts[i] > 0 && (rarity >= last * VISIBLE_STEP || seen == h->count)) {
            fprintf(out, "%.9g %.9g\n", rarity, drawn_s(value_ns));
            last = rarity;
        }
    }
}

bool plot_script_is_point(const struct metric *m)
{
    return m->hist.count == 1 && m->hist.beyond == 0;
}

/* Since origin_ns; no time is before it. */
static double seconds_since(uint64_t origin_ns, uint64_t ns)
{
    return ns > origin_ns ? (double)(ns - origin_ns) / UNITS_NS_PER_S : 0;
}

/* A curve that rises by one at each time; there is at least one. */
static void print_steps(FILE *out, const struct connection_times *t, uint64_t origin_ns,
                        size_t most_points)
{
    const size_t step = t->n / most_points + 1;

    fputs("0 0\n", out);
    for (size_t k = 0; k < t->n; k += step)
        fprintf(out, "%.6f %zu\n", seconds_since(origin_ns, t->ns[k]), k + 1);
    fprintf(out, "%.6f %zu\n", seconds_since(origin_ns, t->ns[t->n - 1]), t->n);
}

void plot_script_ramp(FILE *out, const struct recording *r, size_t most_points)
{
    print_steps(out, &r->connections.times[CONNECTIONS_ESTABLISHED], 0, most_points);
}

double plot_script_recovery(FILE *out, const struct recording *r, size_t most_points,
                            enum connections_column column)
{
    const struct connection_times *lost = &r->connections.times[CONNECTIONS_LOST];
    const struct connection_times *back = &r->connections.times[CONNECTIONS_BACK];
    const struct connection_times *t = &r->connections.times[column];
    const uint64_t last_lost_ns = lost->ns[lost->n - 1];
    const uint64_t last_back_ns = back->n > 0 ? back->ns[back->n - 1] : 0;
    const double end_s =
        seconds_since(lost->ns[0], last_back_ns > last_lost_ns ? last_back_ns : last_lost_ns);

    if (t->n > 0)
        print_steps(out, t, lost->ns[0], most_points);
    else
        fputs("0 0\n", out);
    fprintf(out, "%.6f %zu\n", end_s, t->n);
    return end_s;
}

void plot_extent_add(struct plot_extent *e, double value)
{
    if (e->high == 0 || value < e->low)
        e->low = value;
    if (value > e->high)
        e->high = value;
}

void plot_extent_add_metric(struct plot_extent *e, const struct metric *m)
{
    plot_extent_add(e, drawn_s(m->hist.min_ns));
    plot_extent_add(e, drawn_s(m->hist.max_ns));
}

void plot_script_extent(FILE *out, char axis, const struct plot_extent *e)
{
    if (e->high > 0 && !(e->low < e->high))
        fprintf(out, "set %crange [%.9g:%.9g]\n", axis, pow(10, floor(log10(e->low / 1.1))),
                pow(10, ceil(log10(e->high * 1.1))));
}

void plot_script_bound(FILE *out, const struct json_object *search, const char *bound,
                       const char *style, struct plot_extent *loads)
{
    double load;

    if (!result_double(search, bound, &load) || !(load > 0))
        return;
    fprintf(out, "set arrow from first %.9g, graph 0 to first %.9g, graph 1 nohead %s\n", load,
            load, style);
    plot_extent_add(loads, load);
}

void plot_script_reach(FILE *out, const struct plot_extent *loads, const struct plot_extent *times)
{
    /* an undefined point, so that a block without loads is no error */
    fputs("$reach << EOD\nNaN NaN\n", out);
    if (loads->high > 0 && times->high > 0)
        fprintf(out, "%.9g %.9g\n%.9g %.9g\n", loads->low, times->low, loads->high, times->low);
    fputs("EOD\n", out);
}

/* gnuplot leaves out undefined values, and interrupts the line there. */
static double number_or(const struct json_object *point, const char *path, double otherwise)
{
    double value;

    return result_double(point, path, &value) ? value : otherwise;
}

/* Returns whether the search has an answer or a bound. */
static bool print_point(FILE *out, const struct json_object *point, double at)
{
    const double capacity = number_or(point, "search.capacity", NAN);
    const double lower = number_or(point, "search.lower", NAN);
    const double upper = number_or(point, "search.upper", NAN);

    if (out != NULL)
        fprintf(out, "%.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", at, capacity,
                isnan(lower) ? capacity : lower, isnan(upper) ? capacity : upper,
                isnan(upper) ? lower : NAN, isnan(lower) ? upper : NAN,
                isnan(capacity) ? sqrt(lower * upper) : NAN);
    return !isnan(capacity) || !isnan(lower) || !isnan(upper);
}

size_t plot_script_sweep(FILE *out, const struct json_object *sweep, struct plot_extent *extent)
{
    const struct json_object *point;
    size_t n_known = 0;
    double at;

    for (size_t i = 0; (point = result_element(sweep, "points", i)) != NULL; i++) {
        if (!result_double(point, "at", &at))
            continue;
        n_known += print_point(out, point, at);
        if (extent != NULL)
            plot_extent_add(extent, at);
    }
    return n_known;
}
