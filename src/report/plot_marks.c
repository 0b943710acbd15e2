/* SPDX-License-Identifier: MIT
 * plot_marks: see report/plot_marks.h. */
#include "report/plot_marks.h"

#include <math.h>
#include <stdbool.h>

/* Another program may have written the file. */
#define LEAST_LOAD 1e-9
#define MOST_LOAD  1e18

double plot_marks_step(double most)
{
    const double decade = pow(10, floor(log10(most)));

    return decade * (most / decade > 5 ? 2 : most / decade > 2 ? 1 : 0.5);
}

void plot_marks_print(FILE *out, double n)
{
    const double unit = n < 1e3 ? 1 : n < 1e6 ? 1e3 : 1e6;

    fprintf(out, ", '%.6g%s' %.9g", n / unit, n < 1e3 ? "" : n < 1e6 ? "k" : "M", n);
}

/* Of one decade of an axis: 1, 2 and 5; of a longer axis 1 and 3, or only 1. */
static void print_marks_of(FILE *out, double decade, double from, double to)
{
    static const double of_short[] = {1, 2, 5}, of_long[] = {1, 3};
    const bool is_short = to <= 20 * from;
    const double *marks = is_short ? of_short : of_long;
    const int n_marks = is_short ? 3 : to <= 200 * from ? 2 : 1;

    for (int i = 0; i < n_marks; i++)
        if (decade * marks[i] >= from && decade * marks[i] <= to)
            plot_marks_print(out, decade * marks[i]);
}

void plot_marks_loads(FILE *out, double low, double high)
{
    const double from = low / 1.1, to = high * 1.1, step = plot_marks_step(to - from);

    fputs("set logscale x\n", out);
    if (!(low > LEAST_LOAD && high < MOST_LOAD))
        return;
    /* the first mark is not on the axis */
    fprintf(out, "set xrange [%.9g:%.9g]\nset xtics ('' %.9g", from, to, from / 2);
    if (to < 6 * from)
        for (int n = (int)ceil(from / step); n * step <= to; n++)
            plot_marks_print(out, n * step);
    else
        for (int n = (int)floor(log10(from)); n <= log10(to); n++)
            print_marks_of(out, pow(10, n), from, to);
    fputs(")\n", out);
}
