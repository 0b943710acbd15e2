/* SPDX-License-Identifier: MIT
 * test_class_tally: the classes add up to the run; each law with a count that violates it. */
#include "measure/class_tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { N = 2 };

static struct class_tally classes[N];
static struct class_values values[N];
static struct tally all;

/* Class i has i + 1 times these counts, and the run those of both. */
static void fill(struct tally_queries *q, uint64_t times)
{
    tally_add(&q->scheduled, 10 * times);
    tally_add(&q->sent, 9 * times);
    tally_add(&q->unsent, 1 * times);
    tally_add(&q->answered, 5 * times);
    tally_add(&q->timeout, 2 * times);
    tally_add(&q->error, 1 * times);
    tally_add(&q->cancelled, 1 * times);
    tally_add(&q->rerouted, 4 * times);
}

static int make_lawful(void **state)
{
    (void)state;
    memset(classes, 0, sizeof classes);
    memset(&all, 0, sizeof all);
    for (unsigned i = 0; i < N; i++) {
        for (int purpose = 0; purpose < TALLY_N_CLASSES; purpose++) {
            fill(&classes[i].queries[purpose], i + 1);
            fill(&all.queries[purpose], i + 1);
        }
        values[i] = (struct class_values){5 * (i + 1), 5 * (i + 1)};
        tally_add(&classes[i].attempted, 7);
        tally_add(&classes[i].connected, 6);
        tally_add(&classes[i].secured, 5);
        tally_add(&classes[i].proven, 4);
        tally_add(&classes[i].ended, 7);
        tally_add(&classes[i].refused, 1);
    }
    tally_add(&all.connections.attempted, 14);
    tally_add(&all.connections.connected, 12);
    tally_add(&all.connections.secured, 10);
    tally_add(&all.connections.proven, 8);
    tally_add(&all.connections.ended[PHASE_CONNECT][REASON_REFUSED], 1);
    tally_add(&all.connections.ended[PHASE_CONNECT][REASON_SELF], 1);
    return 0;
}

static void classes_that_add_up_break_no_law(void **state)
{
    (void)state;
    assert_null(class_tally_check(classes, values, N, &all));
}

/* Whether a count of a class more breaks a law. */
static void check_broken_by(tally_count *count)
{
    tally_add(count, 1);
    assert_non_null(class_tally_check(classes, values, N, &all));
    tally_sub(count, 1);
    assert_null(class_tally_check(classes, values, N, &all));
}

static void every_count_of_a_class_is_in_a_law(void **state)
{
    tally_count *counts = (tally_count *)&classes[1];

    (void)state;
    for (size_t i = 0; i < sizeof classes[1] / sizeof *counts; i++)
        check_broken_by(&counts[i]);
}

static void every_count_of_the_queries_of_the_run_is_in_a_law(void **state)
{
    tally_count *counts = (tally_count *)all.queries;

    (void)state;
    for (size_t i = 0; i < sizeof all.queries / (sizeof *counts); i++)
        check_broken_by(&counts[i]);
    check_broken_by(&all.connections.attempted);
    check_broken_by(&all.connections.connected);
    check_broken_by(&all.connections.secured);
    check_broken_by(&all.connections.proven);
    check_broken_by(&all.connections.ended[PHASE_CONNECT][REASON_REFUSED]);
    check_broken_by(&all.connections.ended[PHASE_CONNECT][REASON_SELF]);
}

static void a_query_in_the_wrong_class_breaks_its_law(void **state)
{
    (void)state;
    tally_sub(&classes[0].queries[TALLY_MEASURED].answered, 1);
    tally_add(&classes[1].queries[TALLY_MEASURED].answered, 1);
    assert_non_null(class_tally_check(classes, values, N, &all));
}

static void response_times_are_those_of_the_queries(void **state)
{
    (void)state;
    values[0].count++;
    assert_non_null(class_tally_check(classes, values, N, &all));
    values[0].count--;
    values[1].beyond--;
    assert_non_null(class_tally_check(classes, values, N, &all));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(classes_that_add_up_break_no_law, make_lawful),
        cmocka_unit_test_setup(every_count_of_a_class_is_in_a_law, make_lawful),
        cmocka_unit_test_setup(every_count_of_the_queries_of_the_run_is_in_a_law, make_lawful),
        cmocka_unit_test_setup(a_query_in_the_wrong_class_breaks_its_law, make_lawful),
        cmocka_unit_test_setup(response_times_are_those_of_the_queries, make_lawful),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
