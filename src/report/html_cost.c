/* SPDX-License-Identifier: MIT
 * html_cost: the section about what a connection and a query cost the watched server. */
#include "base/units.h"
#include "measure/server_cost_report.h"
#include "report/html_picture.h"
#include "report/html_plots.h"
#include "report/html_sections.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "report/result.h"
#include "report/server_cost_reader.h"

#include <ctype.h>

struct drawing {
    const struct watch_series *samples;
    enum watch_figure user;
};

static void draw_memory(FILE *script, const void *arg)
{
    const struct drawing *d = arg;

    html_plots_memory(script, d->samples, d->user);
}

static void draw_cpu(FILE *script, const void *arg)
{
    const struct drawing *d = arg;

    html_plots_cpu(script, d->samples);
}

/* --- table --- */

static const struct html_column columns[] = {{"", true}, {"value", false}};

static void print_row(FILE *out, const char *title, const char *value)
{
    html_table_row(out, columns, (const char *[]){title, value}, 2);
}

static void print_count(FILE *out, const char *title, uint64_t n)
{
    char text[UNITS_TEXT_BYTES];

    print_row(out, title, n != WATCH_UNKNOWN ? units_format_count(text, n) : NULL);
}

static void print_bytes(FILE *out, const char *title, uint64_t n)
{
    char text[UNITS_TEXT_BYTES];

    print_row(out, title, n != WATCH_UNKNOWN ? units_format_bytes(text, n) : NULL);
}

/* CPU time: 0 is less than a clock tick. */
static void print_time(FILE *out, const char *title, double ns)
{
    char text[UNITS_TEXT_BYTES];

    print_row(out, title,
              ns > 0 && ns < 1e18 ? units_format_duration(text, (uint64_t)(ns + 0.5)) : NULL);
}

static void print_table(FILE *out, const struct server_cost *c)
{
    char text[SERVER_COST_SLOPE_BYTES];

    html_table_begin(out, "What the run cost the server", columns, 2);
    print_row(out, "user memory per connection", server_cost_slope_text(text, &c->user));
    print_row(out, "kernel memory per connection", server_cost_slope_text(text, &c->kernel));
    print_bytes(out, "socket buffers per connection, at most",
                c->buffer_bytes >= 0 && c->buffer_bytes < 1e18 ? (uint64_t)(c->buffer_bytes + 0.5)
                                                               : WATCH_UNKNOWN);
    print_time(out, "CPU time per query", c->user_ns + c->system_ns);
    print_time(out, "CPU time per query, user", c->user_ns);
    print_time(out, "CPU time per query, system", c->system_ns);
    snprintf(text, sizeof text, "%.2f", c->cpus);
    print_row(out, "CPUs busy under load", c->cpus > 0 && c->cpus < 1e6 ? text : NULL);
    print_bytes(out, "resident memory (RSS), at most", c->rss_bytes);
    print_bytes(out, "proportional memory (PSS), at most", c->pss_bytes);
    print_bytes(out, "memory of the control group, at most", c->cgroup_bytes);
    print_count(out, "file descriptors, at most", c->fds);
    print_count(out, "processes, at most", c->processes);
    print_count(out, "listen queue, longest seen", c->listen_queue);
    print_count(out, "listen queue, backlog", c->listen_backlog);
    print_count(out, "listen queue overflows", c->listen_overflows);
    print_count(out, "listen queue drops", c->listen_drops);
    html_table_end(out);
}

static enum watch_figure user_figure(const struct server_cost *c)
{
    static const enum watch_figure figures[] = {[SERVER_COST_NONE] = WATCH_RSS_BYTES,
                                                [SERVER_COST_CGROUP] = WATCH_CGROUP_USER_BYTES,
                                                [SERVER_COST_PSS] = WATCH_PSS_BYTES,
                                                [SERVER_COST_RSS] = WATCH_RSS_BYTES};

    return figures[c->user_source];
}

static void print_pictures(struct html_report *r, const struct server_cost *c)
{
    const struct json_object *cost = result_find(r->result, "server_cost");
    struct watch_series samples;
    struct drawing drawing = {&samples, user_figure(c)};

    if (server_cost_read_samples(&samples, cost, 0, UINT64_MAX) == 0) {
        fputs("<div class=\"pair\">\n", r->out);
        if (html_plots_has_memory(&samples, drawing.user))
            html_picture(r->out, &r->can_draw, "Memory of the server by number of connections.",
                         draw_memory, &drawing);
        if (html_plots_has_cpu(&samples))
            html_picture(r->out, &r->can_draw, "CPU time of the server over time.", draw_cpu,
                         &drawing);
        fputs("</div>\n", r->out);
    }
    watch_series_free(&samples);
}

static void print_notes(FILE *out, const struct server_cost *c)
{
    char text[SERVER_COST_NOTE_BYTES];

    for (int note = 0; note < SERVER_COST_N_NOTES; note++) {
        const char *words = server_cost_note(text, c, (enum server_cost_note)note);

        if (words == NULL)
            continue;
        fputs("<p>", out);
        html_printf(out, "%c%s.", toupper(words[0]), words + 1);
        fputs("</p>\n", out);
    }
}

void html_cost(struct html_report *r)
{
    struct server_cost c;

    if (server_cost_read(&c, result_find(r->result, "server_cost")) != 0)
        return;
    fputs("<section>\n<h2>Server cost</h2>\n<p>", r->out);
    html_printf(r->out, "Watched: %s.", c.name);
    if (c.end[0] != '\0')
        html_printf(r->out, " The samples end early: %s.", c.end);
    fputs(" Bytes per connection are the slope of memory over the number of connections, with its "
          "95 % confidence interval.</p>\n",
          r->out);
    print_notes(r->out, &c);
    print_table(r->out, &c);
    print_pictures(r, &c);
    fputs("</section>\n", r->out);
}
