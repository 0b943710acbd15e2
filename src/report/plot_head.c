/* SPDX-License-Identifier: MIT
 * plot_head: see report/plot_head.h. */
#include "report/plot_head.h"

#include "report/plain.h"
#include "report/plot_script.h"
#include "report/recordings.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Colour-blind readers can tell them apart; after the scheme "bright" of Paul Tol.  gnuplot has
 * eight line types of its own, which its "cycle" does not replace. */
static const char *const colours[] = {"4477aa", "cc6677", "228833", "aa3377",
                                      "ccbb44", "66ccee", "777777", "000000"};
enum { COLOURS = sizeof colours / sizeof *colours, DASHES = 5 };

void plot_head(FILE *out, enum plot_form form, const char *title)
{
    static const char *const terminals[] = {
        [PLOT_PNG] = "pngcairo noenhanced size 1000,620 font 'sans,11' background 'white'",
        [PLOT_SVG] = "svg noenhanced size 1000,620 font 'sans,14' background 'white'",
        [PLOT_TERM] = "dumb 100 32 aspect 1 noenhanced",
    };

    fprintf(out, "set terminal %s\nset encoding utf8\nset title '%s' noenhanced\n", terminals[form],
            title);
    for (size_t i = 0; i < COLOURS; i++)
        fprintf(out, "set linetype %zu lc rgb '#%s' lw 2 pt 7 ps 1\n", i + 1, colours[i]);
    fprintf(out, "set linetype cycle %d\n", COLOURS);
    if (form == PLOT_TERM) /* in front, the characters of the frame would hide the points on it */
        fputs("set border back\n", out);
    else
        fputs("set grid lt 1 lw 1 lc rgb '#d8d8d8'\nset border lc rgb '#777777'\n"
              "set tics textcolor rgb 'black'\n",
              out);
    fprintf(out, "set key %s noenhanced\nset tics nomirror\n",
            form == PLOT_TERM ? "below" : "outside right top Left reverse width 2");
}

/* How many characters fit beside the frame, and below it. */
enum { COLUMNS_BESIDE = 30, LINES_BELOW = 8 };

void plot_key(FILE *out, enum plot_form form, const struct recordings *all)
{
    bool is_long = false;

    for (size_t i = 0; i < all->n; i++)
        is_long |= plain_columns(all->items[i].name) > COLUMNS_BESIDE;
    if (form != PLOT_TERM && is_long && all->n <= LINES_BELOW) /* the title serves as distance */
        fputs("set key below left Left reverse maxcols 1 title ' '\nset rmargin 5\n", out);
}

void plot_name(FILE *out, const struct recording *run)
{
    enum { MOST_COLUMNS = 64 };
    const char *name = run->name;
    int n = plain_columns(name);

    if (n > MOST_COLUMNS) {
        fputs("'...'.", out);
        for (; n > MOST_COLUMNS - 3; name++)
            n -= ((unsigned char)name[1] & 0xc0) != 0x80; /* a character ends here */
    }
    plot_script_quote(out, name);
}

void plot_time_axis(FILE *out, enum plot_form form, const char *metric)
{
    fputs("set logscale y\nset format y '%.0s %cs'\nset mytics 10\nset ylabel ", out);
    plot_script_quote(out, strcmp(metric, "send_lag") == 0 ? "send lag" : metric);
    fputs(".' time' noenhanced\n", out);
    if (form != PLOT_TERM)
        fputs("set grid mytics lt 1 lw 1 lc rgb '#d8d8d8', lt 1 lw 1 lc rgb '#eeeeee'\n", out);
}

void plot_block(FILE *out, const struct recordings *all, size_t i, const char *style)
{
    fprintf(out, "%s$d%zu %s lt %zu", i == 0 ? "plot " : ", \\\n     ", i, style, i + 1);
    if (i >= COLOURS) /* another curve has this colour */
        fprintf(out, " dt %zu", i / COLOURS % DASHES + 1);
    fputs(" title ", out);
    plot_name(out, &all->items[i]);
}

void plot_blocks(FILE *out, const struct recordings *all, const char *style)
{
    for (size_t i = 0; i < all->n; i++)
        plot_block(out, all, i, style);
    fputc('\n', out);
}
