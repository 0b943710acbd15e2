/* SPDX-License-Identifier: MIT
 * test_html_comparison: this run next to an earlier one. */
#include "report/html_sections.h"

#include "print_steps.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define RUN(p50)                                                                                   \
    "{\"verdict\": \"VALID\", \"options\": {\"timeout\": 0.5}, \"queries\": {\"scheduled\": 100, " \
    "\"answered\": 20}, \"latency_ns\": {\"response\": {\"count\": 20, \"over\": 80, \"min\": "    \
    "500, "                                                                                        \
    "\"mean\": 1000, \"stddev\": 1, \"max\": 2000, \"p50\": " p50 "}}}"

static void a_percentile_among_the_unanswered_is_explained(void **state)
{
    struct recording now = {.name = (char *)"now", .result = json_tokener_parse(RUN("\"beyond\""))};
    struct recording before = {.name = (char *)"before", .result = json_tokener_parse(RUN("1000"))};
    const struct recordings earlier = {&before, 1};
    const struct html_report r = {.out = print_open(), .result = now.result, .earlier = &earlier};
    char *html;

    (void)state;
    assert_true(now.result != NULL && before.result != NULL);
    html_comparison(&r);
    html = print_close();
    assert_has(html,
               "<th scope=\"row\">response p50</th><td>500 ms</td><td>1</td><td>1.00 us</td>");
    assert_has(html, "A percentile that falls among unanswered queries counts as the timeout.");
    free(html);
    json_object_put(now.result);
    json_object_put(before.result);
}

/* Messages have no timeout. */
static void a_listener_has_no_queries(void **state)
{
    struct json_object *result = json_tokener_parse("{\"verdict\": \"VALID\", \"push\": {}}");
    struct recording before = {.name = (char *)"before", .result = result};
    const struct recordings earlier = {&before, 1};
    const struct html_report r = {.out = print_open(), .result = result, .earlier = &earlier};
    char *html;

    (void)state;
    assert_non_null(result);
    html_comparison(&r);
    html = print_close();
    assert_has(html, ">One run shows no trend: ");
    assert_null(strstr(html, "queries"));
    free(html);
    json_object_put(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_percentile_among_the_unanswered_is_explained),
        cmocka_unit_test(a_listener_has_no_queries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
