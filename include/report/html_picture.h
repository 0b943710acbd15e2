/* SPDX-License-Identifier: MIT
 * html_picture: a picture by gnuplot as part of a page: inline SVG that takes its colours from the
 * page, whose ids are unique there. */
#ifndef TCPSCALER_REPORT_HTML_PICTURE_H
#define TCPSCALER_REPORT_HTML_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

/* Writes a figure with its caption: what gnuplot draws by the script that `print` writes.  If
 * gnuplot is missing or fails, it writes no picture but a line on stderr and clears *can_draw; if
 * that is false, it does nothing. */
void html_picture(FILE *out, bool *can_draw, const char *caption,
                  void (*print)(FILE *script, const void *arg), const void *arg);

/* Copies the picture in an SVG file by gnuplot without what a page must not have twice: prolog,
 * title, background, definitions.  Returns 0, or -1 with nothing written if it is not such a file.
 * Pure except for the stream. */
int html_picture_embed(FILE *out, const char *svg, const char *label);

#endif
