/* SPDX-License-Identifier: MIT
 * test_same_run: which recordings have a run in common. */
#include "report/same_run.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TIMES(max)                                                                                 \
    "{\"count\":5,\"over\":0,\"clamped\":0,\"min\":10,\"max\":" max                                \
    ",\"mean\":20,\"stddev\":1,\"p50\":20}"
#define AT(seed)           "\"started\":\"2026-01-31T10:00:00.000Z\",\"seed\":" seed
#define RUN(seed, max)     "{" AT(seed) ",\"latency_ns\":{\"response\":" TIMES(max) "}}"
#define INSTANCE(seed)     "{" AT(seed) ",\"response_ns\":" TIMES("30") "}"
#define MERGED(seed, more) "{" AT("null") ",\"instances\":[" INSTANCE(seed) "," more "]}"

/* Returns 10 * a + b; 0: they have none in common. */
static unsigned in_common(const char *first, const char *second, const char *third)
{
    struct recording items[] = {{.result = json_tokener_parse(first)},
                                {.result = json_tokener_parse(second)},
                                {.result = json_tokener_parse(third)}};
    const struct recordings all = {items, 3};
    size_t a, b;
    const int found = same_run_find(&all, &a, &b);

    for (size_t i = 0; i < all.n; i++) {
        assert_non_null(items[i].result);
        json_object_put(items[i].result);
    }
    assert_in_range(found, 0, 1);
    return found ? (unsigned)(10 * a + b) : 0;
}

static void runs_of_their_own_have_none_in_common(void **state)
{
    (void)state;
    assert_int_equal(in_common(RUN("1", "30"), RUN("2", "30"), RUN("1", "31")), 0);
    assert_int_equal(in_common(RUN("1", "30"), MERGED("2", INSTANCE("3")), RUN("4", "30")), 0);
}

static void a_copy_is_the_same_run(void **state)
{
    (void)state;
    assert_int_equal(in_common(RUN("2", "30"), RUN("1", "30"), RUN("1", "30")), 12);
}

/* As with all.json next to the results that it was merged from. */
static void a_merged_result_has_its_instances(void **state)
{
    (void)state;
    assert_int_equal(in_common(MERGED("1", INSTANCE("2")), RUN("3", "30"), RUN("2", "30")), 2);
    assert_int_equal(in_common(RUN("3", "30"), MERGED("1", INSTANCE("2")), MERGED("2", "{}")), 12);
}

/* Nothing tells two of them apart from a copy. */
static void runs_without_times_are_not_compared(void **state)
{
    static const char unanswered[] =
        "{" AT("1") ",\"latency_ns\":{\"response\":{\"count\":0,\"over\":5,\"clamped\":0}}}";

    (void)state;
    assert_int_equal(in_common(unanswered, unanswered, "{}"), 0);
    assert_int_equal(in_common("{" AT("1") "}", "{" AT("1") "}", "{}"), 0);
    assert_int_equal(in_common(RUN("null", "30"), RUN("null", "30"), "{}"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_their_own_have_none_in_common),
        cmocka_unit_test(a_copy_is_the_same_run),
        cmocka_unit_test(a_merged_result_has_its_instances),
        cmocka_unit_test(runs_without_times_are_not_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
