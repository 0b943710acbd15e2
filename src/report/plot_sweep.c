/* SPDX-License-Identifier: MIT
 * plot_sweep: see report/plot_sweep.h. */
#include "report/plot_sweep.h"

#include "report/plot_script.h"
#include "report/recordings.h"
#include "report/result.h"
#include "report/result_figures.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Ratio of the values at which two neighbouring curves are drawn. */
#define SHIFT 1.05

bool plot_sweep_are_all(const struct recordings *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (result_find(all->items[i].result, "sweep") == NULL)
            return false;
    return true;
}

bool plot_sweep_has_points(const struct recording *r)
{
    return plot_script_sweep(NULL, result_find(r->result, "sweep"), NULL) > 0;
}

bool plot_sweep_fit(const struct recordings *all)
{
    const struct recording *first = &all->items[0];
    const char *over = result_string(first->result, "sweep.over"),
               *unit = result_capacity_unit(first->result);

    for (size_t i = 1; i < all->n; i++) {
        const struct recording *r = &all->items[i];
        const char *its_over = result_string(r->result, "sweep.over"),
                   *its_unit = result_capacity_unit(r->result);

        if (over == NULL || unit == NULL || its_over == NULL || its_unit == NULL ||
            strcmp(over, its_over) != 0 || strcmp(unit, its_unit) != 0)
            return false;
    }
    return true;
}

/* Title, axes and data, the block $d0 for the first run and so on. */
static void print_head(FILE *out, const struct recordings *all, enum plot_form form)
{
    const char *over = result_string(all->items[0].result, "sweep.over");
    const char *unit = result_capacity_unit(all->items[0].result);
    struct plot_extent extent = {0};

    plot_head(out, form, "Capacity");
    plot_key(out, form, all);
    for (size_t i = 0; i < all->n; i++) {
        fprintf(out, "$d%zu << EOD\n", i);
        plot_script_sweep(out, result_find(all->items[i].result, "sweep"), &extent);
        fputs("EOD\n", out);
    }
    fputs("set logscale x\nset format '%.10g'\nset yrange [0:*]\nset xlabel ", out);
    plot_script_quote(out, over != NULL ? over : "value");
    fputs(" noenhanced\nset ylabel ", out);
    plot_script_label(out, "capacity", unit);
    fputs(" noenhanced\nset offsets graph 0.05, graph 0.05, graph 0.05, 0\n", out);
    plot_script_extent(out, 'x', &extent);
}

void plot_sweep_print(FILE *out, const struct recordings *all, enum plot_form form)
{
    print_head(out, all, form);
    for (size_t i = 0; i < all->n; i++) {
        const double shift = pow(SHIFT, (double)i - (double)(all->n - 1) / 2);

        fprintf(out, "%s$d%zu using ($1*%.6f):2:3:4 with yerrorlines lt %zu title ",
                i == 0 ? "plot " : ", \\\n     ", i, shift, i + 1);
        plot_name(out, &all->items[i]);
        fprintf(out,
                ", \\\n     $d%zu using ($1*%.6f):3:(0):($4-$3) with vectors nohead lt %zu notitle"
                ", \\\n     $d%zu using ($1*%.6f):7 with points lt %zu pt 6 ps 1.2 notitle"
                ", \\\n     $d%zu using ($1*%.6f):5 with points lt %zu pt 8 ps 2 notitle"
                ", \\\n     $d%zu using ($1*%.6f):6 with points lt %zu pt 10 ps 2 notitle",
                i, shift, i + 1, i, shift, i + 1, i, shift, i + 1, i, shift, i + 1);
    }
    fputc('\n', out);
}
