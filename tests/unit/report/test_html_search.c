/* SPDX-License-Identifier: MIT
 * test_html_search: the section on the trials of a capacity search. */
#include "report/html_sections.h"

#include "print_steps.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* The section for a search with these trials, in a run with a timeout of 300 ms. */
static char *section_of(const char *trials)
{
    struct html_report r = {.out = print_open()};
    char json[500];

    snprintf(json, sizeof json,
             "{\"options\": {\"timeout\": 0.3}, \"search\": {\"unit\": \"q/s\", \"slo\": "
             "[\"p99<10ms\"], \"trials\": [%s]}}",
             trials);
    r.result = json_tokener_parse(json);
    assert_non_null(r.result);
    html_search(&r);
    json_object_put((struct json_object *)r.result);
    return print_close();
}

static void percentile_among_the_unanswered_is_more_than_the_timeout(void **state)
{
    char *html = section_of("{\"step\": \"double\", \"load\": 400, \"duration_s\": 2.5, \"class\": "
                            "\"void\", \"reason\": \"connections\", \"scheduled\": 988, \"lost\": "
                            "988, \"p50_ns\": null, \"p99_ns\": null, \"drained\": true}");

    (void)state;
    assert_has(html, "<th scope=\"row\">double</th><td>400 q/s</td><td>2.50 s</td>"
                     "<td>&gt;300 ms</td><td>-</td><td>988</td>"
                     "<td class=\"text\">void: connections</td>");
    free(html);
}

/* As if it was stopped during the first trial. */
static void a_search_without_trials_has_no_table(void **state)
{
    char *html = section_of("");

    (void)state;
    assert_string_equal(html, "<section>\n<h2>Capacity search</h2>\n"
                              "<p>Service level: p99&lt;10ms.</p>\n"
                              "<p class=\"soft\">No trial was completed.</p>\n</section>\n");
    free(html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentile_among_the_unanswered_is_more_than_the_timeout),
        cmocka_unit_test(a_search_without_trials_has_no_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
