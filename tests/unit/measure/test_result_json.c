/* SPDX-License-Identifier: MIT
 * test_result_json: the first keys of a result. */
#include "measure/result_json.h"

#include "print_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void result_begins_with_program_state_and_start(void **state)
{
    struct json j;
    char *text;

    (void)state;
    result_json_begin(&j, print_open(), "tcpserver", "1.2");
    result_json_run(&j, "running", 1769903999123000000);
    json_object_end(&j);
    text = print_close();
    assert_string_equal(text, "{\n"
                              "  \"schema\": 1,\n"
                              "  \"program\": \"tcpserver\",\n"
                              "  \"version\": \"1.2\",\n"
                              "  \"state\": \"running\",\n"
                              "  \"started\": \"2026-01-31T23:59:59.123Z\"\n"
                              "}\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(result_begins_with_program_state_and_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
