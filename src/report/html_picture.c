/* SPDX-License-Identifier: MIT
 * html_picture: see report/html_picture.h. */
#include "report/html_picture.h"

#include "base/log.h"
#include "base/text_stream.h"
#include "report/gnuplot.h"
#include "report/html_plots_axes.h"
#include "report/html_text.h"

#include <stdlib.h>
#include <string.h>

int html_picture_embed(FILE *out, const char *svg, const char *caption)
{
    static const char definitions_end[] = "</defs>";
    const char *content = strstr(svg, definitions_end);

    if (content == NULL || strstr(content, "</svg>") == NULL)
        return -1;
    fprintf(out, "<figure>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
            HTML_PLOTS_WIDTH, HTML_PLOTS_HEIGHT);
    html_text(out, caption);
    /* the group that gnuplot opened before its definitions */
    fputs("\">\n<g>", out);
    fputs(content + strlen(definitions_end), out);
    fputs("<figcaption>", out);
    html_text(out, caption);
    fputs("</figcaption>\n</figure>\n", out);
    return 0;
}

/* Returns the SVG file, to be freed; NULL after one line on stderr. */
static char *draw(void (*print)(FILE *script, const void *arg), const void *arg)
{
    struct text_stream t;
    struct gnuplot gnuplot;
    size_t n_bytes;
    char *svg;
    int status = 0;

    if (text_stream_open(&t) == 0 && (status = gnuplot_open(&gnuplot)) == 0) {
        print(gnuplot.script, arg);
        status = gnuplot_close(&gnuplot, t.out);
    }
    svg = text_stream_close(&t, &n_bytes);
    if (status == 0) {
        if (svg == NULL)
            log_error("out of memory");
        return svg;
    }
    free(svg);
    return NULL;
}

void html_picture(FILE *out, bool *can_draw, const char *caption,
                  void (*print)(FILE *script, const void *arg), const void *arg)
{
    char *svg = *can_draw ? draw(print, arg) : NULL;

    *can_draw = svg != NULL;
    if (svg == NULL)
        return;
    if (html_picture_embed(out, svg, caption) != 0) {
        log_error("gnuplot drew no picture");
        *can_draw = false;
    }
    free(svg);
}
