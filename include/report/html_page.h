/* SPDX-License-Identifier: MIT
 * html_page: the start and the end of a self-contained HTML document: its style is inline, it has
 * no script, and its policy forbids every request.  Pure except for the stream. */
#ifndef TCPSCALER_REPORT_HTML_PAGE_H
#define TCPSCALER_REPORT_HTML_PAGE_H

#include <stdio.h>

/* title: text. */
void html_page_begin(FILE *out, const char *title);
void html_page_end(FILE *out);

#endif
