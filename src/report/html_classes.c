/* SPDX-License-Identifier: MIT
 * html_classes: the section on the classes of clients. */
#include "base/units.h"
#include "report/class_reader.h"
#include "report/figure.h"
#include "report/html_sections.h"
#include "report/html_table.h"
#include "report/result_figures.h"

#include <math.h>
#include <string.h>

static const struct html_column columns[] = {
    {"class", true},      {"clients", false},  {"connected", false},  {"live", false},
    {"scheduled", false}, {"answered", false}, {"per second", false}, {"p50", false},
    {"p90", false},       {"p99", false},      {"max", false}};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

static const char *count_text(char *text, uint64_t count)
{
    return count != UINT64_MAX ? units_format_count(text, count) : NULL;
}

static const char *percentile_text(char *text, const struct latency *l, const char *key,
                                   uint64_t timeout_ns)
{
    for (int i = 0; i < LATENCY_N_PERCENTILES && l->count + l->over > 0; i++)
        if (strcmp(latency_percentiles[i].key, key) == 0)
            return figure_latency(text, l->percentiles_ns[i], timeout_ns);
    return NULL;
}

static void print_row(FILE *out, const struct class_report *c, uint64_t timeout_ns)
{
    char texts[N_COLUMNS][FIGURE_TEXT_BYTES];
    const struct latency *l = &c->response;

    html_table_row(out, columns,
                   (const char *[]){
                       c->name,
                       count_text(texts[1], c->clients),
                       count_text(texts[2], c->connected),
                       count_text(texts[3], c->live),
                       count_text(texts[4], c->scheduled),
                       count_text(texts[5], c->answered),
                       isnan(c->achieved_qps) ? NULL : figure_per_s(texts[6], c->achieved_qps),
                       percentile_text(texts[7], l, "p50", timeout_ns),
                       percentile_text(texts[8], l, "p90", timeout_ns),
                       percentile_text(texts[9], l, "p99", timeout_ns),
                       l->count > 0 ? figure_latency(texts[10], l->max_ns, timeout_ns) : NULL,
                   },
                   N_COLUMNS);
}

void html_classes(const struct html_report *r)
{
    struct class_report classes[CLASS_READER_MOST];
    const size_t n = class_reader_take(r->result, classes);

    if (n == 0)
        return;
    fputs("<section>\n<h2>Classes of clients</h2>\n", r->out);
    html_table_begin(r->out, "Queries and response times by class", columns, N_COLUMNS);
    for (size_t i = 0; i < n; i++)
        print_row(r->out, &classes[i], result_timeout_ns(r->result));
    html_table_end(r->out);
    fputs("</section>\n", r->out);
}
