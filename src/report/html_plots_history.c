/* SPDX-License-Identifier: MIT
 * html_plots_history: the pictures over time, see report/html_plots.h. */
#include "report/html_plots.h"

#include "base/units.h"
#include "report/html_plots_axes.h"

#include <math.h>

/* The colour of the heat map, and how opaque the rarest cell is. */
#define HEAT_RGB "68 119 170"
enum { HEAT_LEAST_ALPHA = 40, ALPHA_MOST = 255 };

/* Columns whose rates are not shown: the queries of a part of a second say little. */
#define SHORTEST_RATE_S 0.5

/* --- heat map --- */

/* Prints the mark of digit * 10^decade ns, if that is on the axis.  Returns how many it is. */
static unsigned print_mark(FILE *out, int digit, int decade, double low, double high)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    const int unit = decade < 9 ? decade / 3 : 3;
    const double at = log10(digit) + decade - 9;

    if (at < low - 1e-9 || at > high + 1e-9)
        return 0;
    if (out != NULL)
        fprintf(out, ", '%g %s' %.9g", digit * pow(10, decade - 3 * unit), units[unit], at);
    return 1;
}

/* At each decade; if that is one at most, at 2 and 5, too.  Returns their number.  out NULL: only
 * counts. */
static unsigned print_marks(FILE *out, double low, double high)
{
    enum { DECADES = HISTORY_ROWS / HISTORY_ROWS_PER_DECADE };
    const bool is_short = floor(high) - ceil(low) < 1;
    unsigned n = 0;

    for (int decade = 0; decade <= DECADES; decade++) {
        n += print_mark(out, 1, decade, low, high);
        n += is_short ? print_mark(out, 2, decade, low, high) : 0;
        n += is_short ? print_mark(out, 5, decade, low, high) : 0;
    }
    return n;
}

static void print_end(FILE *out, double at)
{
    char text[UNITS_TEXT_BYTES];
    const uint64_t ns = (uint64_t)(pow(10, at) * UNITS_NS_PER_S + 0.5);

    fprintf(out, ", '%s' %.9g", units_format_duration(text, ns), at);
}

/* An image has a linear axis, so that its logarithm is drawn: decades above 1 s. */
static void print_times_axis(FILE *out, unsigned first_row, unsigned end_rows)
{
    const double low = log10(history_row_s(first_row)), high = log10(history_row_s(end_rows));

    /* the first mark is not on the axis */
    fprintf(out, "set yrange [%.9g:%.9g]\nset ytics ('' %.9g", low, high, low - 1);
    if (print_marks(NULL, low, high) > 1) {
        (void)print_marks(out, low, high);
    } else {
        print_end(out, low);
        print_end(out, high);
    }
    fputs(")\n", out);
}

static unsigned alpha_of(uint64_t count, uint64_t most)
{
    if (count == 0)
        return 0;
    return HEAT_LEAST_ALPHA +
           (unsigned)((ALPHA_MOST - HEAT_LEAST_ALPHA) * log1p((double)count) / log1p((double)most));
}

/* The column to show at a position; an interval longer than a column takes up several. */
static const struct history_column *column_at(const struct history *h, size_t i)
{
    const struct history_column *c = &h->columns[i];
    const double middle_s = ((double)i + 0.5) * h->column_s;

    return i > 0 && c->length_s <= 0 && c[-1].begin_s + c[-1].length_s >= middle_s ? c - 1 : c;
}

static void print_cells(FILE *out, const struct history *h)
{
    const double half_row = 0.5 / HISTORY_ROWS_PER_DECADE;

    fputs("$cells << EOD\n", out);
    for (size_t i = 0; i < h->n; i++)
        for (unsigned row = h->first_row; row < h->end_rows; row++)
            fprintf(out, "%.9g %.9g " HEAT_RGB " %u\n", ((double)i + 0.5) * h->column_s,
                    log10(history_row_s(row)) + half_row,
                    alpha_of(column_at(h, i)->counts[row], h->most));
    fputs("EOD\n", out);
}

static bool is_known(uint64_t ns)
{
    return ns != LATENCY_UNKNOWN && ns != HIST_BEYOND;
}

/* Leaves a gap for what is unknown or was not answered. */
static void print_time(FILE *out, uint64_t ns)
{
    if (is_known(ns))
        fprintf(out, " %.6g", log10((double)ns / UNITS_NS_PER_S));
    else
        fputs(" NaN", out);
}

/* A curve without a point would still be in the key. */
static void print_curves(FILE *out, const struct history *h)
{
    bool has_p50 = false, has_p99 = false;

    for (size_t i = 0; i < h->n; i++) {
        has_p50 |= is_known(h->columns[i].p50_ns);
        has_p99 |= is_known(h->columns[i].p99_ns);
    }
    if (has_p50)
        fputs(", $lines using 1:2 with lines lw 2 dt 3 lc rgb 'black' title 'p50'", out);
    if (has_p99)
        fputs(", $lines using 1:3 with lines lw 1.5 lc rgb 'black' title 'p99'", out);
}

bool html_plots_has_heat_map(const struct history *h)
{
    return h->most > 0 && h->n > 1 && h->end_rows - h->first_row > 1;
}

void html_plots_heat_map(FILE *out, const struct history *h)
{
    html_plots_head(out, "heat", "time since the start of the log, s", "response time");
    print_times_axis(out, h->first_row, h->end_rows);
    print_cells(out, h);
    fputs("$lines << EOD\n", out);
    for (size_t i = 0; i < h->n; i++)
        for (size_t edge = i; edge <= i + 1; edge++) {
            fprintf(out, "%.9g", (double)edge * h->column_s);
            print_time(out, column_at(h, i)->p50_ns);
            print_time(out, column_at(h, i)->p99_ns);
            fputc('\n', out);
        }
    fputs("EOD\n", out);
    html_plots_x_range(out, (double)h->n * h->column_s);
    fputs("unset grid\nplot $cells using 1:2:3:4:5:6 with rgbalpha notitle", out);
    print_curves(out, h);
    fputc('\n', out);
}

/* --- rates --- */

/* The interval in which the measurement began has nothing from before it. */
static double begin_of(const struct history *h, const struct history_column *c)
{
    return fmax(c->begin_s, h->from_s);
}

static double end_of(const struct history_column *c)
{
    return c->begin_s + c->length_s;
}

/* The latest time at which an answer of the column can have arrived: none was due after the
 * measurement. */
static double answers_end_of(const struct history *h, const struct history_column *c)
{
    const double slowest_s = c->max_ns != LATENCY_UNKNOWN ? (double)c->max_ns / UNITS_NS_PER_S : 0;

    return h->to_s > begin_of(h, c) ? fmin(h->to_s + slowest_s, end_of(c)) : end_of(c);
}

static bool has_rate(const struct history *h, const struct history_column *c)
{
    return answers_end_of(h, c) - begin_of(h, c) >= SHORTEST_RATE_S;
}

/* Columns: time, answered per second, time, sent per second.  The interval in which the measurement
 * ends lasts longer than sending, and than the answers: each rate is over its own time.  The
 * columns of several instances overlap: each is drawn from the end of those before it, `drawn_s`.
 * Returns the higher rate. */
static double print_rate(FILE *out, const struct history *h, const struct history_column *c,
                         double drawn_s)
{
    const double begin_s = begin_of(h, c), end_s = end_of(c), answers_end_s = answers_end_of(h, c);
    const double sent_s = h->to_s > begin_s ? fmin(h->to_s, end_s) - begin_s : end_s - begin_s;
    const double answered_qps = (double)c->n_answered / (answers_end_s - begin_s);
    const double sent_qps = sent_s >= SHORTEST_RATE_S ? (double)c->n_sent / sent_s : NAN;
    const double from_s = fmax(begin_s, drawn_s);

    fprintf(out, "%.9g %.9g %.9g %.9g\n", from_s, answered_qps, from_s, sent_qps);
    fprintf(out, "%.9g %.9g %.9g %.9g\n", fmax(answers_end_s, from_s), answered_qps,
            fmax(begin_s + sent_s, from_s), sent_qps);
    return fmax(answered_qps, sent_qps); /* which ignores NAN */
}

/* most_qps: the highest of the other rates that are drawn. */
static void print_rates(FILE *out, const struct history *h, double most_qps)
{
    double end_s = 0; /* of the columns before */

    fputs("set format y '%.10g'\n$d << EOD\n", out);
    for (size_t i = 0; i < h->n; i++) {
        const struct history_column *c = &h->columns[i];

        if (!has_rate(h, c))
            continue;
        if (c->begin_s - end_s > h->column_s / 2)
            fprintf(out, "%.9g NaN NaN NaN\n", end_s);
        most_qps = fmax(most_qps, print_rate(out, h, c, end_s));
        end_s = fmax(end_s, end_of(c));
    }
    fputs("EOD\n", out);
    html_plots_x_range(out, (double)h->n * h->column_s);
    html_plots_y_range(out, most_qps, 1e-6);
    fputs("set offsets 0, 0, graph 0.05, 0\nplot ", out);
}

bool html_plots_has_rates(const struct history *h)
{
    bool has = false;

    for (size_t i = 0; i < h->n; i++) {
        const struct history_column *c = &h->columns[i];

        has |= has_rate(h, c) && c->n_sent + c->n_answered > 0;
    }
    return has;
}

void html_plots_rates(FILE *out, const struct history *h, double requested_qps)
{
    html_plots_head(out, "rates", "time since the start of the log, s", "rate, queries/s");
    print_rates(out, h, requested_qps);
    if (requested_qps > 0)
        fprintf(out, "%.9g with lines lw 2 dt 2 lc rgb '#808080' title 'requested', ",
                requested_qps);
    /* the two are mostly equal: the one below is seen on both sides of the one above */
    fputs("$d using 3:4 with lines lt 1 lw 4 title 'sent', "
          "$d using 1:2 with lines lt 3 title 'answered'\n",
          out);
}

void html_plots_message_rate(FILE *out, const struct history *h)
{
    html_plots_head(out, "rates", "time since the start of the log, s", "rate, messages/s");
    print_rates(out, h, 0);
    fputs("$d using 1:2 with lines lt 1 title 'received'\n", out);
}
