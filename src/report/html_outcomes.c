/* SPDX-License-Identifier: MIT
 * html_outcomes: the sections on how connections and queries ended, with remedies, and on what
 * limited the number of connections. */
#include "measure/outcome.h"
#include "report/figure.h"
#include "report/html_sections.h"
#include "report/html_table.h"
#include "report/result.h"

#include <stdbool.h>
#include <string.h>

static const struct html_column columns[] = {{"outcome", true}, {"count", false}, {"remedy", true}};

enum { N_COLUMNS = 3 };

/* Returns the remedy of "phase/reason"; NULL: nothing is wrong, or the reason is unknown. */
static const char *remedy_of(const char *name)
{
    const char *slash = strchr(name, '/');

    for (int i = 0; slash != NULL && i < OUTCOME_N_REASONS; i++)
        if (strcmp(slash + 1, outcome_reason_name((enum outcome_reason)i)) == 0)
            return outcome_remedy((enum outcome_reason)i);
    return NULL;
}

struct outcomes {
    FILE *out;
    const struct json_object *counts;
    const char *caption; /* NULL: the table has begun */
};

static void print_outcome(void *arg, const char *name)
{
    struct outcomes *o = arg;
    const char *remedy = remedy_of(name);
    char count[FIGURE_TEXT_BYTES], outcome[FIGURE_TEXT_BYTES];

    if (figure_count(count, o->counts, name) == NULL)
        return;
    if (o->caption != NULL)
        html_table_begin(o->out, o->caption, columns, N_COLUMNS);
    o->caption = NULL;
    html_table_row(
        o->out, columns,
        (const char *[]){figure_outcome(outcome, name), count, remedy != NULL ? remedy : ""},
        N_COLUMNS);
}

/* Returns whether there are any. */
static bool print_outcomes(FILE *out, const struct json_object *result, const char *path,
                           const char *caption)
{
    struct outcomes o = {out, result_find(result, path), caption};

    result_each_key(o.counts, print_outcome, &o);
    if (o.caption == NULL)
        html_table_end(out);
    return o.caption == NULL;
}

void html_outcomes(const struct html_report *r)
{
    fputs("<section>\n<h2>Connection outcomes</h2>\n", r->out);
    if (!print_outcomes(r->out, r->result, "connections.outcomes", "How connections ended") &&
        result_find(r->result, "connections.outcomes") != NULL)
        fputs("<p class=\"soft\">No connection was attempted.</p>\n", r->out);
    (void)print_outcomes(r->out, r->result, "queries.outcomes", "How failed queries ended");
    fputs("</section>\n", r->out);
}

/* Of one run, or of one of several instances. */
static void print_limits(FILE *out, const struct html_column *limits, size_t n,
                         const struct recording *run)
{
    const struct json_object *line;
    char text[FIGURE_TEXT_BYTES];

    for (size_t i = 0; (line = result_element(run->result, "diagnosis", i)) != NULL; i++)
        html_table_row(out, limits,
                       (const char *[]){result_string(line, "limit"),
                                        figure_count(text, line, "connections"),
                                        result_string(line, "evidence"),
                                        result_string(line, "remedy"), run->name},
                       n);
}

void html_limits(const struct html_report *r)
{
    static const struct html_column limits[] = {{"limit", true},
                                                {"connections", false},
                                                {"evidence", true},
                                                {"remedy", true},
                                                {"instance", true}};
    const size_t n = r->runs->n > 1 ? 5 : 4;

    if (result_element(r->result, "diagnosis", 0) == NULL)
        return;
    fputs("<section>\n<h2>Limiting factors</h2>\n", r->out);
    html_table_begin(r->out, "What limited the connections", limits, n);
    for (size_t i = 0; i < r->runs->n; i++)
        print_limits(r->out, limits, n, &r->runs->items[i]);
    html_table_end(r->out);
    fputs("</section>\n", r->out);
}
