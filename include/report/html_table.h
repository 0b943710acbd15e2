/* SPDX-License-Identifier: MIT
 * html_table: a table in an HTML document.  All titles and cells are text (html_text). */
#ifndef TCPSCALER_REPORT_HTML_TABLE_H
#define TCPSCALER_REPORT_HTML_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct html_column {
    const char *title; /* "": the cells explain themselves, as names of rows do */
    bool is_text;      /* aligned to the left; otherwise a figure, aligned to the right */
};

/* Begins a table of n columns; the first one names the rows. */
void html_table_begin(FILE *out, const char *caption, const struct html_column *columns, size_t n);

/* A cell is NULL if its figure is unknown. */
void html_table_row(FILE *out, const struct html_column *columns, const char *const *cells,
                    size_t n);
void html_table_end(FILE *out);

#endif
