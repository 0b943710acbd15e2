/* SPDX-License-Identifier: MIT
 * html_plots_connections: the pictures of connections, see report/html_plots.h. */
#include "report/html_plots.h"

#include "base/units.h"
#include "report/html_plots_axes.h"
#include "report/plot_script.h"
#include "report/recordings.h"

/* Of all curves of a picture. */
enum { ALL_POINTS = 1000 };

static bool each_has(const struct recordings *all, enum connections_column column)
{
    bool has = true;

    for (size_t i = 0; i < all->n; i++)
        has &= all->items[i].connections.times[column].n > 0;
    return has;
}

bool html_plots_has_ramp(const struct recordings *all)
{
    return each_has(all, CONNECTIONS_ESTABLISHED);
}

bool html_plots_ramp_misleads(const struct recordings *all)
{
    bool any = false;

    for (size_t i = 0; i < all->n; i++)
        any |= connections_are_mostly_replacements(&all->items[i].connections);
    return any;
}

bool html_plots_has_recovery(const struct recordings *all)
{
    return each_has(all, CONNECTIONS_LOST);
}

void html_plots_ramp(FILE *out, const struct recordings *all)
{
    uint64_t last_ns = 1;
    size_t most = 0;

    html_plots_head(out, "ramp", "time since connecting began, s", "connections established");
    fputs("set format y '%.10g'\n", out);
    for (size_t i = 0; i < all->n; i++) {
        const struct connection_times *t =
            &all->items[i].connections.times[CONNECTIONS_ESTABLISHED];

        last_ns = t->ns[t->n - 1] > last_ns ? t->ns[t->n - 1] : last_ns;
        most = t->n > most ? t->n : most;
        fprintf(out, "$d%zu << EOD\n", i);
        plot_script_ramp(out, &all->items[i], ALL_POINTS / all->n + 1);
        fputs("EOD\n", out);
    }
    html_plots_x_range(out, (double)last_ns / UNITS_NS_PER_S);
    html_plots_y_range(out, (double)most, 0.5);
    for (size_t i = 0; i < all->n; i++)
        fprintf(out, "%s$d%zu using 1:2 with steps lt %zu notitle", i == 0 ? "plot " : ", ", i,
                i % HTML_PLOTS_COLOURS + 1);
    fputc('\n', out);
}

void html_plots_recovery(FILE *out, const struct recordings *all)
{
    const size_t points = ALL_POINTS / 2 / all->n + 1;
    double last_s = 1e-6;
    size_t most = 0;

    html_plots_head(out, "recovery", "time since the first loss, s", "connections");
    fputs("set format y '%.10g'\nset offsets 0, 0, graph 0.05, 0\n", out);
    for (size_t i = 0; i < all->n; i++) {
        const struct recording *r = &all->items[i];
        double end_s;

        fprintf(out, "$l%zu << EOD\n", i);
        end_s = plot_script_recovery(out, r, points, CONNECTIONS_LOST);
        fprintf(out, "EOD\n$d%zu << EOD\n", i);
        plot_script_recovery(out, r, points, CONNECTIONS_BACK);
        fputs("EOD\n", out);
        last_s = end_s > last_s ? end_s : last_s;
        most = r->connections.times[CONNECTIONS_LOST].n > most
                   ? r->connections.times[CONNECTIONS_LOST].n
                   : most;
    }
    html_plots_x_range(out, last_s);
    html_plots_y_range(out, (double)most, 0.5);
    for (size_t i = 0; i < all->n; i++)
        fprintf(out,
                "%s$l%zu using 1:2 with steps lt %zu dt 2 %s, $d%zu using 1:2 with steps lt %zu %s",
                i == 0 ? "plot " : ", ", i, i % HTML_PLOTS_COLOURS + 1,
                i == 0 ? "title 'lost'" : "notitle", i, i % HTML_PLOTS_COLOURS + 1,
                i == 0 ? "title 'back'" : "notitle");
    fputc('\n', out);
}
