/* SPDX-License-Identifier: MIT
 * html_ramp: the section on connecting, and on connections that were lost and came back. */
#include "base/units.h"
#include "report/figure.h"
#include "report/html_picture.h"
#include "report/html_plots.h"
#include "report/html_sections.h"
#include "report/html_text.h"
#include "report/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of one run; 0: unknown. */
static double opened_before_load(const struct json_object *result)
{
    double per_s, elapsed_s, connected;

    return result_double(result, "connections.connect_rate_per_s", &per_s) &&
                   result_double(result, "connections.connect_elapsed_s", &elapsed_s) &&
                   result_double(result, "connections.connected", &connected)
               ? fmin(round(per_s * elapsed_s), connected)
               : 0;
}

/* "20 connections established; the 10 before the load took 417 us, 24,000 per second."  Several
 * instances have the longest of their times: the sum of their rates did not last that long. */
static void print_counts(FILE *out, const struct json_object *result, const struct recordings *runs)
{
    char connected[FIGURE_TEXT_BYTES], first[FIGURE_TEXT_BYTES], elapsed[FIGURE_TEXT_BYTES],
        rate[FIGURE_TEXT_BYTES];
    double elapsed_s, n_first = 0;
    uint64_t n = 0;

    if (figure_count(connected, result, "connections.connected") == NULL)
        return;
    (void)result_u64(result, "connections.connected", &n);
    for (size_t i = 0; i < runs->n; i++)
        n_first += opened_before_load(runs->items[i].result);
    fputs("<p>", out);
    html_printf(out, "%s %s established", connected, units_noun(n, "connection", "connections"));
    if (result_double(result, "connections.connect_elapsed_s", &elapsed_s) && elapsed_s > 0 &&
        n_first > 0 && figure_number(first, n_first) != NULL &&
        figure_number(rate, n_first / elapsed_s) != NULL &&
        figure_seconds(elapsed, result, "connections.connect_elapsed_s") != NULL)
        html_printf(out, "; the %s before the load took %s, %s per second",
                    strcmp(first, "1") == 0 ? "one" : first, elapsed, rate);
    fputs(".</p>\n", out);
}

static void print_ramp(FILE *script, const void *arg)
{
    html_plots_ramp(script, arg);
}

static void print_recovery(FILE *script, const void *arg)
{
    html_plots_recovery(script, arg);
}

void html_ramp(struct html_report *r)
{
    const struct json_object *result = r->result;

    fputs("<section>\n<h2>Connecting</h2>\n", r->out);
    print_counts(r->out, result, r->runs);
    fputs("<div class=\"pair\">\n", r->out);
    if (html_plots_has_ramp(r->runs) && html_plots_ramp_misleads(r->runs))
        fputs("<p class=\"soft\">No connect ramp: most slots had several connections, and only the "
              "times of the last ones are known.</p>\n",
              r->out);
    else if (html_plots_has_ramp(r->runs))
        html_picture(r->out, &r->can_draw,
                     r->runs->n > 1
                         ? "Connect ramp: connections established, one curve per instance. Of "
                           "several connections in a slot, only the last one."
                         : "Connect ramp: connections established since connecting began. Of "
                           "several in a slot, only the last one.",
                     print_ramp, r->runs);
    if (html_plots_has_recovery(r->runs))
        html_picture(r->out, &r->can_draw,
                     "Recovery: connections lost, and back, since the first loss. Of several "
                     "losses in a slot, only the last one.",
                     print_recovery, r->runs);
    fputs("</div>\n</section>\n", r->out);
}
