/* SPDX-License-Identifier: MIT
 * test_html_ramp: what the page says about connecting. */
#include "report/html_sections.h"

#include "print_steps.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* The section on a run with n connections.  Those before the load took 2 s. */
static char *section_of(int n, double per_s)
{
    struct recording run = {.name = (char *)"a"};
    const struct recordings runs = {&run, 1};
    struct html_report r = {.runs = &runs};
    char json[200];

    snprintf(json, sizeof json,
             "{\"connections\": {\"connected\": %d, \"connect_rate_per_s\": %g, "
             "\"connect_elapsed_s\": 2}}",
             n, per_s);
    r.result = run.result = json_tokener_parse(json);
    assert_non_null(run.result);
    r.out = print_open();
    html_ramp(&r);
    json_object_put(run.result);
    return print_close();
}

static void connections_before_the_load_have_their_rate(void **state)
{
    char *html = section_of(20, 5);

    (void)state;
    assert_has(html,
               "20 connections established; the 10 before the load took 2.00 s, 5 per second.");
    free(html);
    html = section_of(1, 0.5);
    assert_has(html, "1 connection established; the one before the load took 2.00 s, 0.5 per");
    free(html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_before_the_load_have_their_rate)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
