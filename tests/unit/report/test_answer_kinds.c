/* SPDX-License-Identifier: MIT
 * test_answer_kinds: whether two groups of runs got the same kinds of answers. */
#include "report/answer_kinds.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ANSWERS(rcodes, echoed) "{\"answers\":{\"rcodes\":{" rcodes "},\"echoed\":" echoed "}}"
#define NONE                    "{\"answers\":null}"

static char text[ANSWER_KINDS_TEXT_BYTES];

/* The first group has two runs, the second one.  Returns the difference; "": none. */
static const char *difference(const char *a, const char *other_a, const char *b)
{
    struct json_object *results[] = {json_tokener_parse(a), json_tokener_parse(other_a),
                                     json_tokener_parse(b)};
    struct answer_kinds before = {0}, now = {0};

    answer_kinds_add(&before, results[0]);
    answer_kinds_add(&before, results[1]);
    answer_kinds_add(&now, results[2]);
    if (!answer_kinds_differ(&before, &now, text))
        text[0] = '\0';
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        assert_non_null(results[i]);
        json_object_put(results[i]);
    }
    return text;
}

static void a_server_that_fails_answers_differently(void **state)
{
    const char *served = ANSWERS("\"NOERROR\":500,\"NXDOMAIN\":500", "0");

    (void)state;
    assert_string_equal(difference(served, served, ANSWERS("\"SERVFAIL\":7", "0")),
                        "SERVFAIL 0.0 % and 100.0 %");
    assert_string_equal(
        difference(served, ANSWERS("\"SERVFAIL\":3000", "0"),
                   ANSWERS("\"NOERROR\":1,\"REFUSED\":1,\"SERVFAIL\":6,\"NXDOMAIN\":0", "0")),
        "REFUSED 0.0 % and 12.5 %");
    assert_string_equal(difference(ANSWERS("", "9"), ANSWERS("", "9"), served),
                        "NOERROR 0.0 % and 50.0 %");
}

static void a_tenth_of_the_answers_may_differ(void **state)
{
    const char *served = ANSWERS("\"NOERROR\":1000", "0");

    (void)state;
    assert_string_equal(difference(served, served, ANSWERS("\"NOERROR\":90,\"SERVFAIL\":10", "0")),
                        "");
    assert_string_equal(
        difference(served, served, ANSWERS("\"NOERROR\":89,\"SERVFAIL\":6,\"NXDOMAIN\":5", "0")),
        "SERVFAIL 0.0 % and 6.0 %");
}

static void runs_without_answers_do_not_differ(void **state)
{
    const char *served = ANSWERS("\"NOERROR\":1000", "0");

    (void)state;
    assert_string_equal(difference(NONE, NONE, served), "");
    assert_string_equal(difference(served, served, NONE), "");
    assert_string_equal(difference(served, NONE, ANSWERS("", "0")), "");
    assert_string_equal(difference(NONE, served, served), "");
}

/* Another program may have written the file. */
static void names_are_printed_as_they_are_safe(void **state)
{
    char many[2000] = "{\"answers\":{\"rcodes\":{\"A\\u001b[31m\":1000";
    size_t n = strlen(many);

    (void)state;
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(many + n, sizeof many - n, ",\"K%d\":1", i);
    snprintf(many + n, sizeof many - n, "},\"echoed\":0}}");
    assert_string_equal(difference(ANSWERS("", "9"), NONE, many), "A?[31m 0.0 % and 98.4 %");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_fails_answers_differently),
        cmocka_unit_test(a_tenth_of_the_answers_may_differ),
        cmocka_unit_test(runs_without_answers_do_not_differ),
        cmocka_unit_test(names_are_printed_as_they_are_safe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
