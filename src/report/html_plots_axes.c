/* SPDX-License-Identifier: MIT
 * html_plots_axes: see report/html_plots_axes.h. */
#include "report/html_plots_axes.h"

#include "report/plot_marks.h"
#include "report/plot_script.h"

#include <math.h>

/* Visible on white and on black. */
#define BLUE  "#4477aa"
#define RED   "#cc6677"
#define GREEN "#228833"

void html_plots_head(FILE *out, const char *name, const char *x, const char *y)
{
    fprintf(out,
            "set terminal svg noenhanced size %d,%d dynamic font 'sans-serif,15' name '%s'\n"
            "set encoding utf8\nset border 3 lw 1\nset tics nomirror scale 0.5\n"
            "set key above horizontal left Left reverse samplen 1.5 width 1\n"
            "set grid lt 1 lw 1 lc rgb '#888888'\nset linetype 1 lc rgb '" BLUE
            "' lw 2\nset linetype 2 lc rgb '" RED "' lw 2\nset linetype 3 lc rgb '" GREEN
            "' lw 2\nset xlabel ",
            HTML_PLOTS_WIDTH, HTML_PLOTS_HEIGHT, name);
    plot_script_quote(out, x);
    fputs("\nset ylabel ", out);
    plot_script_quote(out, y);
    fputc('\n', out);
}

void html_plots_x_range(FILE *out, double most)
{
    fprintf(out, "set xrange [0:%.9g]\nset xtics %.9g\n", most, plot_marks_step(most));
}

void html_plots_x_counts(FILE *out, double most)
{
    const double step = fmax(plot_marks_step(most), 1);

    fprintf(out, "set xrange [0:%.9g]\nset xtics ('0' 0", most);
    for (int i = 1; i * step <= most; i++)
        plot_marks_print(out, i * step);
    fputs(")\n", out);
}

void html_plots_y_range(FILE *out, double most, double least)
{
    if (most > least)
        fprintf(out, "set yrange [0:*]\nset ytics %.9g\n", plot_marks_step(most));
    else
        fprintf(out, "set yrange [0:%.9g]\nset ytics %.9g\n", least, plot_marks_step(least));
}
