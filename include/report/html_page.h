/* SPDX-License-Identifier: MIT
 * html_page: the frame of an HTML document that needs nothing else: its style is inside, it has no
 * script, and its policy forbids every request.  Pure except for the stream. */
#ifndef TCPSCALER_REPORT_HTML_PAGE_H
#define TCPSCALER_REPORT_HTML_PAGE_H

#include <stdio.h>

/* title: text. */
void html_page_begin(FILE *out, const char *title);
void html_page_end(FILE *out);

#endif
