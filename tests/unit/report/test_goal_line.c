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
        "\"why\":\"none\\nwas\"}]}");
    char text[GOAL_LINE_BYTES];

    (void)state;
    assert_non_null(result);
    assert_string_equal(goal_line(text, result, 0), "p99<5ms missed: 1,204 of 100,827 exceed it");
    assert_string_equal(goal_line(text, result, 1), "p99<5ms met: 1 of 200 exceeds it");
    assert_string_equal(goal_line(text, result, 2), "max<5ms met: 0 of 1 exceeds it");
    assert_string_equal(goal_line(text, result, 3),
                        "p50<5ms undecided: 0 of 0 exceed it; none?was");
    assert_null(goal_line(text, result, 4));
    json_object_put(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_goal_is_one_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
