/* SPDX-License-Identifier: MIT
 * cmd_plot: tcpreport plot: loads the runs and plots them with gnuplot, into a file or on stdout.
 */
#include "base/log.h"
#include "base/output.h"
#include "report/cmd.h"
#include "report/gnuplot.h"
#include "report/opts.h"
#include "report/plot.h"
#include "report/recordings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The form by file extension; -1: unknown. */
static int form_of(const struct report_opts *o)
{
    const char *ending = o->term ? NULL : strrchr(o->output, '.');

    if (o->term)
        return PLOT_TERM;
    if (ending != NULL && strcmp(ending, ".png") == 0)
        return PLOT_PNG;
    return ending != NULL && strcmp(ending, ".svg") == 0 ? PLOT_SVG : -1;
}

/* Returns 0, or -1 after one line on stderr. */
static int draw(const struct report_opts *o, const struct recordings *all, enum plot_form form,
                FILE *out)
{
    struct gnuplot gnuplot;
    int status;

    if (gnuplot_open(&gnuplot) != 0)
        return -1;
    status = plot_print(gnuplot.script, all, (enum plot_kind)o->kind, o->metric, form);
    if (status != 0)
        log_error("out of memory");
    return gnuplot_close(&gnuplot, out) != 0 ? -1 : status;
}

/* Returns an exit code. */
static int draw_file(const struct report_opts *o, const struct recordings *all, enum plot_form form)
{
    struct output file;
    int code;

    if (output_open_document(&file, "output", o->output) != 0)
        return CMD_USAGE;
    code = output_begin(&file) == 0 ? CMD_OK : CMD_UNWRITTEN;
    if (code == CMD_OK && draw(o, all, form, file.stream) != 0)
        code = CMD_USAGE;
    if (code == CMD_OK)
        return output_close(&file) == 0 ? CMD_OK : CMD_UNWRITTEN;
    output_abandon(&file);
    return code;
}

static void warn_of_later_connections(const struct recordings *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (connections_are_mostly_replacements(&all->items[i].connections))
            log_error("warning: %s: most slots had several connections, and only the last one of "
                      "each is drawn",
                      all->items[i].name);
}

/* Returns an exit code. */
static int plot(const struct report_opts *o, const struct recordings *all, enum plot_form form)
{
    const char *name, *lacks = plot_lacks(all, (enum plot_kind)o->kind, o->metric, &name);

    if (lacks != NULL) {
        log_error("%s: %s", name, lacks);
        return CMD_USAGE;
    }
    if (o->kind == PLOT_CONNECT)
        warn_of_later_connections(all);
    if (form != PLOT_TERM)
        return draw_file(o, all, form);
    return draw(o, all, form, stdout) == 0 ? CMD_OK : CMD_USAGE;
}

static void warn_of_omission(const char *name, const char *why)
{
    log_error("warning: %s is left out: %s", name, why);
}

/* Returns an exit code. */
static int plot_selected(const struct report_opts *o, const struct recordings *all,
                         enum plot_form form)
{
    struct recordings drawn = {.items = calloc(all->n, sizeof *drawn.items)};
    int code = CMD_USAGE;

    if (drawn.items == NULL) {
        log_error("out of memory");
        return code;
    }
    plot_select(&drawn, all, (enum plot_kind)o->kind, o->metric, warn_of_omission);
    code = plot(o, &drawn, form);
    free(drawn.items);
    return code;
}

int cmd_plot(const struct report_opts *opts)
{
    const int form = form_of(opts);
    struct recordings all;
    int code = CMD_USAGE;

    if (form < 0) {
        log_error("--output: invalid value '%s': expected a name ending in .png or .svg",
                  opts->output);
        return code;
    }
    if (recordings_load(&all, opts->files, (size_t)opts->n_files) == 0)
        code = plot_selected(opts, &all, (enum plot_form)form);
    recordings_free(&all);
    return code;
}
