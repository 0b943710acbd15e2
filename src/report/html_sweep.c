/* SPDX-License-Identifier: MIT
 * html_sweep: the section on the capacity searches of a sweep: their answers, and the curve. */
#include "report/figure.h"
#include "report/html_picture.h"
#include "report/html_plots.h"
#include "report/html_sections.h"
#include "report/html_table.h"
#include "report/html_text.h"
#include "report/result.h"

#include <stdio.h>
#include <string.h>

enum { CAPTION_BYTES = 64 };

/* "4,887 q/s", "at least 10,000 q/s", "inconclusive". */
static void print_answer(FILE *out, const struct json_object *search)
{
    const char *status = result_string(search, "status"), *unit = result_string(search, "unit");
    const bool is_least = status != NULL && strcmp(status, "at-least") == 0;
    const bool is_most = status != NULL && strcmp(status, "less-than") == 0;
    const bool is_found = status != NULL && strcmp(status, "found") == 0;
    char text[FIGURE_TEXT_BYTES];

    if ((is_least || is_most || is_found) && figure_value(text, search,
                                                          is_most    ? "upper"
                                                          : is_least ? "lower"
                                                                     : "capacity") != NULL)
        html_printf(out, "%s%s %s",
                    is_least  ? "at least "
                    : is_most ? "less than "
                              : "",
                    text, unit != NULL ? unit : "");
    else
        html_text(out, status != NULL ? status : "not reached");
}

void html_sweep_answer(FILE *out, const struct json_object *sweep)
{
    const struct json_object *point;
    const char *over = result_string(sweep, "over");
    char at[FIGURE_TEXT_BYTES];

    fputs("<p class=\"capacity\"><strong>Capacity</strong> by ", out);
    html_text(out, over != NULL ? over : "point");
    for (size_t i = 0; (point = result_element(sweep, "points", i)) != NULL; i++) {
        fputs(i == 0 ? ": " : "; ", out);
        print_answer(out, result_find(point, "search"));
        if (figure_count(at, point, "at") != NULL)
            html_printf(out, " at %s", at);
    }
    fputs(".</p>\n", out);
}

/* "found: p99<10ms", "inconclusive: no connection became usable" */
static const char *answer_text(char text[FIGURE_FINDING_BYTES], const struct json_object *search)
{
    const char *status = result_string(search, "status"), *reason = figure_reason(search);
    const char *limit = result_string(search, "limited_by");

    if (status == NULL || reason == NULL)
        return figure_answer(text, search);
    snprintf(text, FIGURE_FINDING_BYTES, "%.40s: %.80s%s%.40s", status, reason,
             limit != NULL ? "; limited by " : "", limit != NULL ? limit : "");
    return text;
}

static void print_row(struct html_report *r, const struct html_column *columns,
                      const struct json_object *point)
{
    const struct json_object *search = result_find(point, "search");
    char texts[4][FIGURE_TEXT_BYTES], answer[FIGURE_FINDING_BYTES];

    html_table_row(r->out, columns,
                   (const char *[]){figure_count(texts[0], point, "at"),
                                    figure_value(texts[1], search, "capacity"),
                                    figure_value(texts[2], search, "lower"),
                                    figure_value(texts[3], search, "upper"),
                                    answer_text(answer, search)},
                   5);
}

static void print_curve(FILE *script, const void *sweep)
{
    html_plots_sweep(script, sweep);
}

void html_sweep(struct html_report *r)
{
    const struct json_object *sweep = result_find(r->result, "sweep"), *point;
    const char *over = result_string(sweep, "over"), *unit;
    char caption[CAPTION_BYTES];
    const struct html_column columns[] = {{over != NULL ? over : "at", false},
                                          {"capacity", false},
                                          {"sustained", false},
                                          {"not sustained", false},
                                          {"answer", true}};

    if (sweep == NULL)
        return;
    fputs("<section>\n<h2>Capacity sweep</h2>\n", r->out);
    if (html_plots_has_sweep(sweep))
        html_picture(
            r->out, &r->can_draw,
            "Capacity by the value of the sweep. The bars are the bounds between which the "
            "server's limit lies; thin ones were not confirmed.",
            print_curve, sweep);
    unit = result_string(result_element(sweep, "points", 0), "search.unit");
    snprintf(caption, sizeof caption, "Searches%s%.30s", unit != NULL ? "; loads in " : "",
             unit != NULL ? unit : "");
    html_table_begin(r->out, caption, columns, 5);
    for (size_t i = 0; (point = result_element(sweep, "points", i)) != NULL; i++)
        print_row(r, columns, point);
    html_table_end(r->out);
    fputs("</section>\n", r->out);
}
