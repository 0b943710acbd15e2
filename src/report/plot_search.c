/* SPDX-License-Identifier: MIT
 * plot_search: see report/plot_search.h. */
#include "report/plot_search.h"

#include "base/units.h"
#include "report/plot_marks.h"
#include "report/plot_script.h"
#include "report/recordings.h"
#include "report/result.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

bool plot_search_has_trials(const struct recording *r)
{
    const struct json_object *trial;
    uint64_t p99_ns;

    for (size_t i = 0; (trial = result_element(r->result, "search.trials", i)) != NULL; i++)
        if (result_u64(trial, "p99_ns", &p99_ns))
            return true;
    return false;
}

bool plot_search_fit(const struct recordings *all)
{
    const char *first = result_string(all->items[0].result, "search.unit");

    for (size_t i = 1; i < all->n; i++) {
        const char *unit = result_string(all->items[i].result, "search.unit");

        if (unit == NULL || first == NULL || strcmp(unit, first) != 0)
            return false;
    }
    return true;
}

static void print_trials(FILE *out, const struct recordings *all, const char *class,
                         struct plot_extent *loads, struct plot_extent *times)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct json_object *trial;

        for (size_t k = 0;
             (trial = result_element(all->items[i].result, "search.trials", k)) != NULL; k++) {
            const char *name = result_string(trial, "class");
            uint64_t p99_ns;
            double load;

            if (name == NULL || strcmp(name, class) != 0 || !result_double(trial, "load", &load) ||
                !result_u64(trial, "p99_ns", &p99_ns))
                continue;
            fprintf(out, "%.9g %.9g\n", load, (double)p99_ns / UNITS_NS_PER_S);
            plot_extent_add(loads, load);
            plot_extent_add(times, (double)p99_ns / UNITS_NS_PER_S);
        }
    }
}

void plot_search_trials(FILE *out, const struct recordings *all, enum plot_form form)
{
    static const char *const classes[] = {"good", "bad", "void"};
    const char *unit = result_string(all->items[0].result, "search.unit");
    struct plot_extent loads = {0}, times = {0};

    plot_head(out, form, "Trials of the capacity search");
    for (size_t c = 0; c < 3; c++) {
        /* an undefined point, so that a class without trials is no error */
        fprintf(out, "$d%zu << EOD\nNaN NaN\n", c);
        print_trials(out, all, classes[c], &loads, &times);
        fputs("EOD\n", out);
    }
    for (size_t i = 0; i < all->n; i++) {
        const struct json_object *search = result_find(all->items[i].result, "search");

        plot_script_bound(out, search, "lower", "lt 3 dt 2", &loads);
        plot_script_bound(out, search, "upper", "lt 2 dt 2", &loads);
    }
    plot_script_reach(out, &loads, &times);
    plot_time_axis(out, form, "p99 of the response");
    plot_script_extent(out, 'y', &times);
    plot_marks_loads(out, loads.low, loads.high);
    fputs("set xlabel ", out);
    plot_script_label(out, "load", unit);
    fputs(" noenhanced\nset offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05\n"
          "plot $d0 using 1:2 with points lt 3 pt 7 title 'good', \\\n"
          "     $d1 using 1:2 with points lt 2 pt 6 title 'bad', \\\n"
          "     $d2 using 1:2 with points lt 7 pt 1 title 'void', \\\n"
          "     " PLOT_SCRIPT_REACH "\n",
          out);
}
