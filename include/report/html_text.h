/* SPDX-License-Identifier: MIT
 * html_text: text in an HTML document.  Nothing that it writes is markup, whatever the text
 * contains.  Pure except for the stream. */
#ifndef TCPSCALER_REPORT_HTML_TEXT_H
#define TCPSCALER_REPORT_HTML_TEXT_H

#include <stdio.h>

/* Writes text, safe as the content of an element and as an attribute in double quotes.  What is not
 * UTF-8, control characters other than tab and newline, characters that change the direction of
 * writing (the property Bidi_Control of Unicode), and noncharacters become U+FFFD.  NULL: writes
 * nothing. */
void html_text(FILE *out, const char *text);

/* The same with its quotes, safe as the content of an element alone: JSON is a quarter shorter. */
void html_content(FILE *out, const char *text);

/* html_text(), formatted. */
__attribute__((format(printf, 2, 3))) void html_printf(FILE *out, const char *format, ...);

#endif
