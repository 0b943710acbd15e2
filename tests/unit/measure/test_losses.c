/* SPDX-License-Identifier: MIT
 * test_losses: a sudden end, and an idle timeout. */
#include "measure/losses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS 1000000ull

static struct losses l;

static int setup(void **state)
{
    (void)state;
    return losses_init(&l);
}

static int teardown(void **state)
{
    (void)state;
    losses_free(&l);
    return 0;
}

static void without_losses_there_is_neither_a_sudden_end_nor_idleness(void **state)
{
    (void)state;
    assert_false(losses_are_sudden(&l));
    assert_false(losses_are_idle_timeouts(&l));
}

static void ends_within_a_second_are_sudden(void **state)
{
    (void)state;
    losses_add(&l, 5000 * MS, 3 * MS);
    losses_add(&l, 6000 * MS, 700 * MS);
    assert_true(losses_are_sudden(&l));
    assert_false(losses_are_idle_timeouts(&l));
    losses_add(&l, 6001 * MS, 10 * MS);
    assert_false(losses_are_sudden(&l));
}

static void ends_of_many_may_take_longer(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100001; i++)
        losses_add(&l, 5000 * MS + i * 20000, MS);
    assert_true(losses_are_sudden(&l));
}

static void idle_timeout_finds_all_idle_for_as_long(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        losses_add(&l, 5000 * MS + i * 50 * MS, 2000 * MS + i * MS);
    assert_true(losses_are_idle_timeouts(&l));
    assert_false(losses_are_sudden(&l));
    assert_false(losses_have_exceptions(&l));
}

/* Queries were sent just when the timeout of their connections ended. */
static void idle_timeout_is_found_despite_few_that_were_not_idle(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 95; i++)
        losses_add(&l, 5000 * MS + i * 50 * MS, 2000 * MS);
    for (int i = 0; i < 4; i++)
        losses_add(&l, 5000 * MS, 0);
    assert_true(losses_are_idle_timeouts(&l));
    assert_true(losses_have_exceptions(&l));
    assert_in_range(losses_idle_of_most_ns(&l), 2000 * MS, 2010 * MS);
    for (int i = 0; i < 2; i++)
        losses_add(&l, 5000 * MS, 0);
    assert_false(losses_are_idle_timeouts(&l));
    assert_false(losses_have_exceptions(&l));
    assert_int_equal(losses_idle_of_most_ns(&l), 0);
}

static void an_idle_timeout_is_half_a_second_and_four_fifths_of_the_median(void **state)
{
    static const struct {
        uint64_t least_ms, others_ms;
        bool is_timeout;
    } cases[] = {{501, 501, true},  {498, 498, false},   {501, 620, true},
                 {501, 640, false}, {8050, 10000, true}, {7950, 10000, false}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct losses these;

        assert_int_equal(losses_init(&these), 0);
        for (int k = 0; k < 100; k++)
            losses_add(&these, 5000 * MS, (k < 6 ? cases[i].least_ms : cases[i].others_ms) * MS);
        if (losses_are_idle_timeouts(&these) != cases[i].is_timeout)
            fail_msg("case %zu", i);
        losses_free(&these);
    }
}

/* In turn: the median is half the interval. */
static void connections_in_use_do_not_reach_an_idle_timeout(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        losses_add(&l, 5000 * MS, 20 * i * MS);
    assert_false(losses_are_idle_timeouts(&l));
}

static void median_of_connections_in_use_is_zero(void **state)
{
    (void)state;
    assert_int_equal(losses_median_idle_ns(&l), 0);
    losses_add(&l, 5000 * MS, 0);
    losses_add(&l, 5000 * MS, 0);
    assert_int_equal(losses_median_idle_ns(&l), 0);
    losses_add(&l, 5000 * MS, 4 * MS);
    assert_int_equal(losses_median_idle_ns(&l), 0);
    losses_add(&l, 5000 * MS, 4 * MS);
    losses_add(&l, 5000 * MS, 4 * MS);
    assert_int_equal(losses_median_idle_ns(&l), 4 * MS);
}

/* Whole milliseconds are known: "at least 0 ns" would say nothing. */
static void idle_times_are_described_by_the_least_or_else_by_the_most(void **state)
{
    char text[LOSSES_TEXT_BYTES];

    (void)state;
    losses_add(&l, 5000 * MS, 0);
    losses_add(&l, 5000 * MS, 0);
    assert_string_equal(losses_format_idle(text, &l, 0), "idle for less than 1 ms");
    losses_add(&l, 5000 * MS, 4 * MS);
    assert_string_equal(losses_format_idle(text, &l, 0),
                        "idle for at most 4.00 ms, median below 1 ms");
    losses_add(&l, 5000 * MS, 3 * MS);
    losses_add(&l, 5000 * MS, 3 * MS);
    assert_string_equal(losses_format_idle(text, &l, 0),
                        "idle for at most 4.00 ms, median 3.00 ms");
    assert_string_equal(losses_format_idle(text, &l, 3 * MS),
                        "idle for at least 3.00 ms, median 3.00 ms");
}

static void idle_times_of_hours_are_known(void **state)
{
    static const uint64_t hour_ms = 3600000;
    char text[LOSSES_TEXT_BYTES];

    (void)state;
    for (int i = 0; i < 9; i++)
        losses_add(&l, 5000 * MS, 4 * hour_ms * MS);
    losses_add(&l, 5000 * MS, 2 * hour_ms * MS);
    assert_int_equal(losses_least_idle_ns(&l), 2 * hour_ms * MS);
    assert_false(losses_are_idle_timeouts(&l));
    assert_string_equal(losses_format_idle(text, &l, losses_least_idle_ns(&l)),
                        "idle for at least 7,200 s, median 14,400 s");
}

static void losses_of_two_workers_are_merged(void **state)
{
    struct losses other;

    (void)state;
    assert_int_equal(losses_init(&other), 0);
    losses_add(&l, 5000 * MS, MS);
    losses_add(&other, 4000 * MS, 2 * MS);
    losses_add(&other, 7000 * MS, 3 * MS);
    losses_merge(&l, &other);
    assert_int_equal(l.idle_us.count, 3);
    assert_int_equal(l.last_ns - l.first_ns, 3000 * MS);
    losses_free(&other);
}

/* n connections, each idle for idle_ns. */
static void lose(uint64_t n, uint64_t n_answers, uint64_t idle_ns)
{
    for (uint64_t i = 0; i < n; i++) {
        losses_add(&l, 5000 * MS, idle_ns);
        losses_add_answers(&l, n_answers);
    }
}

static void limit_on_queries_shows_in_connections_with_the_same_number_of_answers(void **state)
{
    char text[LOSSES_TEXT_BYTES];

    (void)state;
    lose(1, 100, 0);
    assert_string_equal(losses_format_answers(text, &l), "");
    lose(18, 100, 3 * MS);
    lose(1, 7, 3 * MS); /* ended otherwise */
    assert_int_equal(losses_answers_of_each(&l), 100);
    assert_string_equal(losses_format_answers(text, &l), "after 100 queries each");
    lose(1, 101, 3 * MS);
    assert_int_equal(losses_answers_of_each(&l), 0);
    assert_string_equal(losses_format_answers(text, &l), "");
}

static void one_query_each_is_singular(void **state)
{
    char text[LOSSES_TEXT_BYTES];

    (void)state;
    lose(2, 1, 0);
    assert_string_equal(losses_format_answers(text, &l), "after 1 query each");
}

/* They may have been closed for others, and have had the same few queries by chance. */
static void idle_connections_had_no_limit_on_queries(void **state)
{
    (void)state;
    lose(20, 1, 500 * MS);
    assert_int_equal(losses_answers_of_each(&l), 0);
}

static void connections_whose_answers_are_not_known_do_not_count_as_the_same(void **state)
{
    (void)state;
    lose(18, 100, 0);
    losses_add(&l, 5000 * MS, 0);
    losses_add(&l, 5000 * MS, 0);
    assert_int_equal(losses_answers_of_each(&l), 0);
}

static void answers_of_each_are_those_of_all_threads(void **state)
{
    struct losses other;

    (void)state;
    assert_int_equal(losses_init(&other), 0);
    lose(1, 100, 0);
    losses_add(&other, 5000 * MS, 0);
    losses_add_answers(&other, 100);
    losses_merge(&l, &other);
    assert_int_equal(losses_answers_of_each(&l), 100);
    losses_free(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_losses_there_is_neither_a_sudden_end_nor_idleness,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(ends_within_a_second_are_sudden, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_of_many_may_take_longer, setup, teardown),
        cmocka_unit_test_setup_teardown(idle_timeout_finds_all_idle_for_as_long, setup, teardown),
        cmocka_unit_test_setup_teardown(idle_timeout_is_found_despite_few_that_were_not_idle, setup,
                                        teardown),
        cmocka_unit_test(an_idle_timeout_is_half_a_second_and_four_fifths_of_the_median),
        cmocka_unit_test_setup_teardown(connections_in_use_do_not_reach_an_idle_timeout, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(median_of_connections_in_use_is_zero, setup, teardown),
        cmocka_unit_test_setup_teardown(idle_times_are_described_by_the_least_or_else_by_the_most,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(idle_times_of_hours_are_known, setup, teardown),
        cmocka_unit_test_setup_teardown(losses_of_two_workers_are_merged, setup, teardown),
        cmocka_unit_test_setup_teardown(
            limit_on_queries_shows_in_connections_with_the_same_number_of_answers, setup, teardown),
        cmocka_unit_test_setup_teardown(one_query_each_is_singular, setup, teardown),
        cmocka_unit_test_setup_teardown(idle_connections_had_no_limit_on_queries, setup, teardown),
        cmocka_unit_test_setup_teardown(
            connections_whose_answers_are_not_known_do_not_count_as_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_of_each_are_those_of_all_threads, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
