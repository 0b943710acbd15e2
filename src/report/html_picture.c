/* SPDX-License-Identifier: MIT
 * html_picture: see report/html_picture.h. */
#include "report/html_picture.h"

#include "base/log.h"
#include "report/gnuplot.h"
#include "report/html_plots_axes.h"
#include "report/html_text.h"

#include <stdlib.h>
#include <string.h>

int html_picture_embed(FILE *out, const char *svg, const char *label)
{
    static const char definitions_end[] = "</defs>";
    const char *content = strstr(svg, definitions_end);

    if (content == NULL || strstr(content, "</svg>") == NULL)
        return -1;
    fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", HTML_PLOTS_WIDTH,
            HTML_PLOTS_HEIGHT);
    html_text(out, label);
    /* the group that gnuplot opened before its definitions */
    fputs("\">\n<g>", out);
    fputs(content + strlen(definitions_end), out);
    return 0;
}

/* Returns the SVG file, to be freed; NULL after one line on stderr. */
static char *draw(void (*print)(FILE *script, const void *arg), const void *arg)
{
    char *svg = NULL;
    size_t n_bytes;
    FILE *file = open_memstream(&svg, &n_bytes);
    struct gnuplot gnuplot;
    int status = -1;

    if (file == NULL) {
        log_error("out of memory");
        return NULL;
    }
    if (gnuplot_open(&gnuplot) == 0) {
        print(gnuplot.script, arg);
        status = gnuplot_close(&gnuplot, file);
    }
    if (fclose(file) != 0 || status != 0) {
        free(svg);
        return NULL;
    }
    return svg;
}

void html_picture(FILE *out, bool *can_draw, const char *caption,
                  void (*print)(FILE *script, const void *arg), const void *arg)
{
    char *svg = *can_draw ? draw(print, arg) : NULL;

    *can_draw = svg != NULL;
    if (svg == NULL)
        return;
    fputs("<figure>\n", out);
    if (html_picture_embed(out, svg, caption) == 0) {
        fputs("<figcaption>", out);
        html_text(out, caption);
        fputs("</figcaption>", out);
    } else {
        log_error("gnuplot drew no picture");
        *can_draw = false;
    }
    fputs("\n</figure>\n", out);
    free(svg);
}
