/* SPDX-License-Identifier: MIT
 * test_html_table: headers, alignment, unknown figures, text that looks like markup. */
#include "report/html_table.h"

#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void every_cell_is_text_below_its_header(void **state)
{
    static const struct html_column columns[] = {{"na&me", true}, {"count", false}, {"why", true}};
    FILE *out = print_open();
    char *html;

    (void)state;
    html_table_begin(out, "a < b", columns, 3);
    html_table_row(out, columns, (const char *[]){"<td>", "7", "</td>"}, 3);
    html_table_row(out, columns, (const char *[]){"unknown", NULL, ""}, 3);
    html_table_end(out);
    html = print_close();
    assert_string_equal(
        html, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"a &lt; "
              "b\"><table>\n<caption>a &lt; b</caption>\n<thead><tr>"
              "<th scope=\"col\" class=\"text\">na&amp;me</th><th scope=\"col\">count</th>"
              "<th scope=\"col\" class=\"text\">why</th></tr></thead>\n<tbody>\n"
              "<tr><th scope=\"row\">&lt;td&gt;</th><td>7</td><td class=\"text\">&lt;/td&gt;</td>"
              "</tr>\n"
              "<tr><th scope=\"row\">unknown</th><td>-</td><td class=\"text\"></td></tr>\n"
              "</tbody></table></div>\n");
    free(html);
}

static void a_column_without_a_title_has_no_header(void **state)
{
    static const struct html_column columns[] = {{"", true}, {"value", false}};
    FILE *out = print_open();
    char *html;

    (void)state;
    html_table_begin(out, "a", columns, 2);
    html = print_close();
    assert_non_null(strstr(html, "<tr><td></td><th scope=\"col\">value</th></tr>"));
    free(html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_cell_is_text_below_its_header),
                                       cmocka_unit_test(a_column_without_a_title_has_no_header)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
