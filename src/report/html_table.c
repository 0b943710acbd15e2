/* SPDX-License-Identifier: MIT
 * html_table: see report/html_table.h. */
#include "report/html_table.h"

#include "report/html_text.h"

static const char *class_of(const struct html_column *column)
{
    return column->is_text ? " class=\"text\"" : "";
}

/* A screen reader would announce an empty header with every cell below it. */
static void put_header(FILE *out, const struct html_column *column)
{
    if (column->title[0] == '\0') {
        fputs("<td></td>", out);
        return;
    }
    fprintf(out, "<th scope=\"col\"%s>", class_of(column));
    html_text(out, column->title);
    fputs("</th>", out);
}

void html_table_begin(FILE *out, const char *caption, const struct html_column *columns, size_t n)
{
    /* with the focus, a wide table can be scrolled with keys */
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"", out);
    html_text(out, caption);
    fputs("\"><table>\n<caption>", out);
    html_text(out, caption);
    fputs("</caption>\n<thead><tr>", out);
    for (size_t i = 0; i < n; i++)
        put_header(out, &columns[i]);
    fputs("</tr></thead>\n<tbody>\n", out);
}

void html_table_row(FILE *out, const struct html_column *columns, const char *const *cells,
                    size_t n)
{
    fputs("<tr><th scope=\"row\">", out);
    html_text(out, cells[0]);
    fputs("</th>", out);
    for (size_t i = 1; i < n; i++) {
        fprintf(out, "<td%s>", class_of(&columns[i]));
        html_text(out, cells[i] != NULL ? cells[i] : "-");
        fputs("</td>", out);
    }
    fputs("</tr>\n", out);
}

void html_table_end(FILE *out)
{
    fputs("</tbody></table></div>\n", out);
}
