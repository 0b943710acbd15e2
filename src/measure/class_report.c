/* SPDX-License-Identifier: MIT
 * class_report: see measure/class_report.h. */
#include "measure/class_report.h"

#include "base/units.h"
#include "measure/latency_report.h"

#include <math.h>

static void print_count(FILE *out, uint64_t count)
{
    char text[UNITS_TEXT_BYTES];

    fprintf(out, "%12s", count != UINT64_MAX ? units_format_count(text, count) : "-");
}

static void print_counts(FILE *out, const struct class_report *c)
{
    char text[UNITS_TEXT_BYTES];

    fprintf(out, "%-16s", c->name);
    print_count(out, c->clients);
    print_count(out, c->connected);
    print_count(out, c->proven);
    print_count(out, c->live);
    print_count(out, c->scheduled);
    print_count(out, c->answered);
    fprintf(out, "%12s\n",
            isnan(c->achieved_qps) ? "-" : units_format_tenths(text, c->achieved_qps));
}

/* Prints nothing if no query was due. */
static void print_times(FILE *out, const struct class_report *classes, size_t n,
                        uint64_t timeout_ns)
{
    int width = LATENCY_REPORT_NAME;
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        width = latency_report_width(width, classes[i].name);
        any |= classes[i].response.count + classes[i].response.over > 0;
    }
    if (!any)
        return;
    fputc('\n', out);
    latency_report_head(out, "Response", width);
    for (size_t i = 0; i < n; i++)
        latency_report_text(out, classes[i].name, width, &classes[i].response, timeout_ns);
}

void class_report_text(FILE *out, const struct class_report *classes, size_t n, uint64_t timeout_ns)
{
    if (n == 0)
        return;
    fprintf(out, "\n%-16s%12s%12s%12s%12s%12s%12s%12s\n", "Class", "clients", "connected", "proven",
            "live", "scheduled", "answered", "q/s");
    for (size_t i = 0; i < n; i++)
        print_counts(out, &classes[i]);
    print_times(out, classes, n, timeout_ns);
}
