/* SPDX-License-Identifier: MIT
 * test_mismatch: what instances of one run must not share, and what they must. */
#include "report/mismatch.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char said[1024];

static void say(void *context, const char *text)
{
    (void)context;
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

/* The result of a run of 10 s that began at this second. */
#define RUN(second, more)                                                                          \
    "{\"measured_from\":\"2026-01-31T10:00:" second                                                \
    ".000Z\",\"rate\":{\"duration_s\":10},\"queries\":{\"sent\":5}," more "}"
#define SAME   "\"options\":{\"rate\":5}"
#define SEED_1 "\"seed\":1," SAME
#define SEED_2 "\"seed\":2," SAME
#define SEED_3 "\"seed\":3," SAME

static const char *mismatch_of(size_t n, const char *const *results)
{
    struct recording items[] = {
        {.name = (char *)"a"}, {.name = (char *)"b"}, {.name = (char *)"c"}};
    const struct recordings all = {items, n};

    for (size_t i = 0; i < n; i++) {
        items[i].result = json_tokener_parse(results[i]);
        assert_non_null(items[i].result);
    }
    said[0] = '\0';
    mismatch_find(&all, say, NULL);
    for (size_t i = 0; i < n; i++)
        json_object_put(items[i].result);
    return said;
}

static const char *mismatch(const char *a, const char *b)
{
    return mismatch_of(2, (const char *const[]){a, b});
}

static void instances_at_the_same_time_match(void **state)
{
    (void)state;
    assert_string_equal(mismatch(RUN("20", SEED_1), RUN("20", SEED_2)), "");
    assert_string_equal(mismatch(RUN("20", SEED_1), RUN("21", SEED_2)), "");
    assert_string_equal(mismatch(RUN("21", SEED_1), RUN("20", SEED_2)), "");
}

static void times_without_overlap_do_not_match(void **state)
{
    (void)state;
    assert_string_equal(mismatch(RUN("20", SEED_1), RUN("22", SEED_2)),
                        "a and b overlapped for 80 % of the shorter one: outside of that, their "
                        "rates do not add up\n");
    assert_string_equal(mismatch(RUN("45", SEED_1), RUN("20", SEED_2)),
                        "a and b did not overlap in time: their rates do not add up\n");
}

/* Of 5 s, all of them within the 10 s of the other run. */
static void a_short_run_within_a_long_one_matches(void **state)
{
    static const char within[] = "{\"measured_from\":\"2026-01-31T10:00:23.000Z\","
                                 "\"rate\":{\"duration_s\":5},\"queries\":{\"sent\":5}," SEED_2 "}";

    (void)state;
    assert_string_equal(mismatch(RUN("20", SEED_1), within), "");
    assert_string_equal(mismatch(within, RUN("20", SEED_1)), "");
    assert_string_equal(mismatch(RUN("14", SEED_1), within),
                        "a and b overlapped for 20 % of the shorter one: outside of that, their "
                        "rates do not add up\n");
}

static void a_run_without_a_measurement_has_no_times(void **state)
{
    static const char refused[] =
        "{\"started\":\"2026-01-31T10:00:00.000Z\",\"measured_from\":null,"
        "\"rate\":{\"duration_s\":0},\"queries\":{\"sent\":0}," SEED_1 "}";

    (void)state;
    assert_string_equal(mismatch(RUN("20", SEED_2), refused), "");
    assert_string_equal(mismatch(refused, RUN("20", SEED_2)), "");
    assert_string_equal(
        mismatch_of(3, (const char *const[]){refused, RUN("45", SEED_2), RUN("20", SEED_3)}),
        "b and c did not overlap in time: their rates do not add up\n");
}

static void the_same_seed_sends_the_same_queries(void **state)
{
    (void)state;
    assert_string_equal(mismatch(RUN("20", SEED_1), RUN("20", SEED_1)),
                        "a and b have the same seed, so they sent the same queries at the same "
                        "times\n");
    assert_string_equal(
        mismatch(RUN("20", SEED_1), RUN("20", "\"seed\":1,\"options\":{\"rate\":6}")),
        "a and b have the same seed, so they drew the same random numbers\n"
        "a and b have different settings: rate 5 and 6\n");
}

static void searches_have_no_capacity_together(void **state)
{
    (void)state;
    assert_string_equal(
        mismatch(RUN("20", SEED_1), RUN("20", "\"search\":{}," SEED_2)),
        "b searched for a capacity (--find): the capacity of all runs together is unknown\n");
    assert_string_equal(
        mismatch(RUN("20", "\"sweep\":{}," SEED_1), RUN("20", "\"search\":{}," SEED_2)),
        "a searched for a capacity (--find): the capacity of all runs together is unknown\n");
}

static void a_search_alone_matches(void **state)
{
    struct recording search = {.name = (char *)"a",
                               .result = json_tokener_parse(RUN("20", "\"search\":{}," SEED_1))};
    const struct recordings all = {&search, 1};

    (void)state;
    said[0] = '\0';
    mismatch_find(&all, say, NULL);
    assert_string_equal(said, "");
    json_object_put(search.result);
}

/* The first one is a log without a result. */
static void what_has_no_result_matches_everything(void **state)
{
    struct recording items[] = {
        {.name = (char *)"a"},
        {.name = (char *)"b", .result = json_tokener_parse(RUN("20", SEED_1))},
        {.name = (char *)"c"}};
    const struct recordings all = {items, 3};

    (void)state;
    said[0] = '\0';
    mismatch_find(&all, say, NULL);
    assert_string_equal(said, "");
    items[0].result = items[1].result;
    items[1].result = NULL;
    mismatch_find(&all, say, NULL);
    assert_string_equal(said, "");
    json_object_put(items[0].result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances_at_the_same_time_match),
        cmocka_unit_test(times_without_overlap_do_not_match),
        cmocka_unit_test(a_short_run_within_a_long_one_matches),
        cmocka_unit_test(a_run_without_a_measurement_has_no_times),
        cmocka_unit_test(the_same_seed_sends_the_same_queries),
        cmocka_unit_test(searches_have_no_capacity_together),
        cmocka_unit_test(a_search_alone_matches),
        cmocka_unit_test(what_has_no_result_matches_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
