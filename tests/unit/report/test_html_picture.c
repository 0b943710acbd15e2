/* SPDX-License-Identifier: MIT
 * test_html_picture: what of gnuplot's SVG file becomes part of a page. */
#include "report/html_picture.h"

#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* As gnuplot writes it. */
static const char file[] = "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\">\n"
                           "<title>Gnuplot</title>\n<g id=\"gnuplot_canvas\">\n"
                           "<rect fill=\"#ffffff\"/>\n<defs>\n<circle id='gpDot' r='0.5'/>\n"
                           "</defs>\n<g><path d='M0,0'/></g>\n</g>\n</svg>\n";

static void only_the_drawing_is_embedded(void **state)
{
    char *html;

    (void)state;
    assert_int_equal(html_picture_embed(print_open(), file, "<load> & \"latency\""), 0);
    html = print_close();
    assert_string_equal(html, "<figure>\n<svg viewBox=\"0 0 480 320\" role=\"img\" "
                              "aria-label=\"&lt;load&gt; &amp; &quot;latency&quot;\">\n<g>\n"
                              "<g><path d='M0,0'/></g>\n</g>\n</svg>\n<figcaption>"
                              "&lt;load&gt; &amp; &quot;latency&quot;</figcaption>\n</figure>\n");
    free(html);
}

static void invalid_pictures_are_refused(void **state)
{
    static const char *const files[] = {"", "</svg>", "<svg><defs></defs>", "</svg></defs>"};
    FILE *out = print_open();
    char *html;

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_int_equal(html_picture_embed(out, files[i], "caption"), -1);
    html = print_close();
    assert_string_equal(html, "");
    free(html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_drawing_is_embedded),
        cmocka_unit_test(invalid_pictures_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
