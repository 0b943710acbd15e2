/* SPDX-License-Identifier: MIT
 * test_html_outcomes: the section on how connections and queries ended. */
#include "report/html_sections.h"

#include "print_steps.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static char *section_of(const char *json)
{
    struct json_object *result = json_tokener_parse(json);
    const struct html_report r = {.out = print_open(), .result = result};

    assert_non_null(result);
    html_outcomes(&r);
    json_object_put(result);
    return print_close();
}

static void outcomes_have_their_counts(void **state)
{
    char *html = section_of("{\"connections\": {\"outcomes\": {\"run/finished\": 7}}, "
                            "\"queries\": {\"outcomes\": {}}}");

    (void)state;
    assert_has(html, "<th scope=\"row\">run: finished</th><td>7</td><td class=\"text\"></td>");
    assert_null(strstr(html, "attempted"));
    assert_null(strstr(html, "How failed queries ended"));
    free(html);
}

/* With --on-demand, if no query was due. */
static void a_run_without_connections_says_so(void **state)
{
    char *html =
        section_of("{\"connections\": {\"outcomes\": {}}, \"queries\": {\"outcomes\": {}}}");

    (void)state;
    assert_string_equal(html, "<section>\n<h2>Connection outcomes</h2>\n"
                              "<p class=\"soft\">No connection was attempted.</p>\n</section>\n");
    free(html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes_have_their_counts),
        cmocka_unit_test(a_run_without_connections_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
