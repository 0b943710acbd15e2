/* SPDX-License-Identifier: MIT
 * test_goal_line: goals in words. */
#include "report/goal_line.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_goal_is_one_line(void **state)
{
    struct json_object *result = json_tokener_parse(
        "{\"goals\":["
        "{\"goal\":\"p99<5ms\",\"result\":\"missed\",\"exceeding\":1204,\"of\":100827},"
        "{\"goal\":\"p99<5ms\",\"result\":\"met\",\"exceeding\":1,\"of\":200},"
        "{\"goal\":\"max<5ms\",\"result\":\"met\",\"exceeding\":0,\"of\":1},"
        "{\"goal\":\"p50<5ms\",\"result\":\"undecided\",\"exceeding\":0,\"of\":0,"
        "\"why\":\"nothing-measured\"},"
        "{\"goal\":\"lost<0.1%\",\"result\":\"undecided\",\"exceeding\":0,\"of\":604,"
        "\"why\":\"too-few\",\"own\":0},"
        "{\"goal\":\"p99<5ms\",\"result\":\"undecided\",\"exceeding\":300,\"of\":604,"
        "\"why\":\"own-delays\",\"own\":299},"
        "{\"goal\":\"lost=0\",\"result\":\"undecided\",\"exceeding\":1,\"of\":604,"
        "\"why\":\"own-delays\",\"own\":0},"
        "{\"goal\":\"connect.p99<5ms\",\"result\":\"missed\",\"exceeding\":2,\"of\":20},"
        "{\"goal\":\"p50<5ms\",\"result\":\"undecided\",\"exceeding\":0,\"of\":1,"
        "\"why\":\"as\\nyet unknown\"}]}");
    static const char *const lines[] = {
        "p99<5ms missed: 1,204 of 100,827 queries took longer or were lost",
        "p99<5ms met: 1 of 200 queries took longer or was lost",
        "max<5ms met: 0 of 1 query took longer or was lost",
        "p50<5ms undecided: nothing was measured",
        "lost<0.1% undecided: 0 of 604 queries were lost; too few to tell",
        "p99<5ms undecided: 300 of 604 queries took longer or were lost; "
        "this host itself may have delayed or lost 299 of them",
        "lost=0 undecided: 1 of 604 queries was lost; this host's own delays may have caused "
        "losses",
        "connect.p99<5ms missed: 2 of 20 connections took longer or failed",
        "p50<5ms undecided: 0 of 1 query took longer or was lost; as?yet unknown",
    };
    char text[GOAL_LINE_BYTES];

    (void)state;
    assert_non_null(result);
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_string_equal(goal_line(text, result, i), lines[i]);
    assert_null(goal_line(text, result, sizeof lines / sizeof *lines));
    json_object_put(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_goal_is_one_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
