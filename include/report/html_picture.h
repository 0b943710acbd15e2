/* SPDX-License-Identifier: MIT
 * html_picture: a gnuplot picture in a page: inline SVG with the colours of the page and ids that
 * are unique in it. */
#ifndef TCPSCALER_REPORT_HTML_PICTURE_H
#define TCPSCALER_REPORT_HTML_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

/* Writes a figure with its caption, which gnuplot draws from the script that `print` writes.  If
 * gnuplot is missing or fails, prints a line on stderr instead and clears *can_draw; does nothing
 * if that is false. */
void html_picture(FILE *out, bool *can_draw, const char *caption,
                  void (*print)(FILE *script, const void *arg), const void *arg);

/* Writes a figure with the picture of gnuplot's SVG file, without the parts that a page must not
 * have twice (prolog, title, background, definitions), and its caption.  Returns 0, or -1 with
 * nothing written if it is not such a file.  Pure except for the stream. */
int html_picture_embed(FILE *out, const char *svg, const char *caption);

#endif
