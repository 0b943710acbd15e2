/* SPDX-License-Identifier: MIT
 * test_html_over_time: what the page says about rates without a picture of them. */
#include "report/html_sections.h"

#include "print_steps.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* The section on a run of which only the result is known. */
static char *section_of(const char *json)
{
    struct recording run = {.name = (char *)"a", .result = json_tokener_parse(json)};
    const struct recordings runs = {&run, 1};
    struct html_report r = {.out = print_open(), .runs = &runs, .result = run.result};

    assert_non_null(run.result);
    html_over_time(&r);
    json_object_put(run.result);
    return print_close();
}

/* It may have been interrupted in the warm-up. */
static void a_run_that_measured_nothing_may_have_sent_queries(void **state)
{
    char *html = section_of("{\"queries\": {\"sent\": 0}, \"warmup\": {\"sent\": 53}}");

    (void)state;
    assert_has(html, "<p class=\"soft\">No query of the measurement was sent.</p>");
    free(html);
}

static void a_listener_that_measured_nothing_may_have_received_messages(void **state)
{
    char *html = section_of("{\"push\": {\"measured\": 0, \"before\": 7}}");

    (void)state;
    assert_has(html, "<p class=\"soft\">No message of the measurement was received.</p>");
    free(html);
}

/* Of two instances, one could not connect. */
static void rates_add_up_without_an_instance_that_measured_nothing(void **state)
{
    static const char *const json[] = {
        "{\"queries\": {\"sent\": 0, \"answered\": 0, \"timeout\": 0}, \"rate\": {\"duration_s\": "
        "0}}",
        "{\"queries\": {\"sent\": 50, \"answered\": 50}, \"rate\": {\"duration_s\": 2, "
        "\"achieved_qps\": 25}}"};
    struct recording both[2] = {{.name = (char *)"a"}, {.name = (char *)"b"}};
    const struct recordings runs = {both, 2};
    struct html_report r = {.out = print_open(), .runs = &runs};
    char *html;

    (void)state;
    for (int i = 0; i < 2; i++)
        both[i].result = json_tokener_parse(json[i]);
    r.result = both[1].result;
    html_over_time(&r);
    html = print_close();
    assert_has(html, "<th scope=\"row\">answered</th><td>50</td><td>25 q/s</td>");
    assert_has(html, "<th scope=\"row\">timed out</th><td>-</td><td>-</td>");
    free(html);
    html = section_of(json[0]);
    assert_has(html, "<th scope=\"row\">answered</th><td>0</td><td>-</td>");
    free(html);
    for (int i = 0; i < 2; i++)
        json_object_put(both[i].result);
}

/* A merged result has the longest duration only: of 300 q/s for 1 s and 50 q/s for 12 s. */
static void scheduled_rate_of_instances_that_lasted_differently_is_unknown(void **state)
{
    char *html = section_of(
        "{\"instances\": [{\"name\": \"a\"}, {\"name\": \"b\"}], \"queries\": "
        "{\"scheduled\": 900, \"unsent\": 0, \"sent\": 900}, \"rate\": {\"duration_s\": 12, "
        "\"achieved_qps\": 350}, \"options\": {\"duration\": null}}");

    (void)state;
    assert_has(html, "<th scope=\"row\">scheduled</th><td>900</td><td>-</td>");
    assert_has(html, "<th scope=\"row\">unsent</th><td>0</td><td>-</td>");
    assert_has(html, "<th scope=\"row\">sent</th><td>900</td><td>350 q/s</td>");
    assert_null(strstr(html, "The client was late"));
    free(html);
}

/* Both for 2 s, of which one was late; or on schedules that are equally long. */
static void scheduled_rate_of_instances_that_lasted_equally_is_known(void **state)
{
    char *html = section_of(
        "{\"instances\": [{\"name\": \"a\"}, {\"name\": \"b\"}], \"queries\": "
        "{\"scheduled\": 900, \"sent\": 900}, \"rate\": {\"duration_s\": 2, \"achieved_qps\": "
        "400}, \"options\": {\"duration\": 2}}");

    (void)state;
    assert_has(html, "<th scope=\"row\">scheduled</th><td>900</td><td>450 q/s</td>");
    assert_has(html, "The client was late");
    free(html);
    html = section_of("{\"instances\": [{\"name\": \"a\"}, {\"name\": \"b\"}], \"queries\": "
                      "{\"scheduled\": 900, \"sent\": 900}, \"rate\": {\"duration_s\": 2, "
                      "\"achieved_qps\": 450}}");
    assert_has(html, "<th scope=\"row\">scheduled</th><td>900</td><td>450 q/s</td>");
    free(html);
}

/* The control. */
static void a_run_with_queries_lacks_the_log(void **state)
{
    char *html = section_of("{\"queries\": {\"sent\": 5}}");

    (void)state;
    assert_has(html, "need the histogram log (--hlog)");
    free(html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_measured_nothing_may_have_sent_queries),
        cmocka_unit_test(a_listener_that_measured_nothing_may_have_received_messages),
        cmocka_unit_test(rates_add_up_without_an_instance_that_measured_nothing),
        cmocka_unit_test(scheduled_rate_of_instances_that_lasted_differently_is_unknown),
        cmocka_unit_test(scheduled_rate_of_instances_that_lasted_equally_is_known),
        cmocka_unit_test(a_run_with_queries_lacks_the_log),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
