/* SPDX-License-Identifier: MIT
 * test_html_sweep: the answers of the searches of a sweep. */
#include "report/html_sections.h"

#include "print_steps.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void a_search_without_an_answer_says_why(void **state)
{
    struct json_object *result = json_tokener_parse(
        "{\"sweep\": {\"over\": \"connections\", \"points\": ["
        "{\"at\": 1, \"search\": {\"status\": \"inconclusive\", \"reason\": \"void-trials\", "
        "\"limited_by\": \"host-noise\"}}, "
        "{\"at\": 2, \"search\": {\"status\": \"inconclusive\", \"reason\": \"stopped\"}}, "
        "{\"at\": 3, \"search\": null}]}}");
    struct html_report r = {.out = print_open(), .result = result};
    char *html;

    (void)state;
    assert_non_null(result);
    html_sweep(&r);
    html = print_close();
    assert_has(html,
               "inconclusive: the client&#39;s host, not the server, was the limit; limited by "
               "host-noise</td>");
    assert_has(html, ">inconclusive: stopped</td>");
    assert_has(html, ">not reached</td>");
    free(html);
    json_object_put(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_search_without_an_answer_says_why)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
