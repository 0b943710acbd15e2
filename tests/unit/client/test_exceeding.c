/* SPDX-License-Identifier: MIT
 * test_exceeding: which queries count as beyond the limits of goals, and which of them this host
 * may have caused. */
#include "client/exceeding.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS 1000000ull

static struct hist metrics[CLIENT_N_QUERY_METRICS];
static struct trial_figures figures;
static struct slo slo;

static void record(enum client_metric metric, uint64_t ns, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        hist_record(&metrics[metric], ns);
}

/* Four queries, of which one was not answered. */
static int setup(void **state)
{
    char error[SLO_ERROR_BYTES];

    (void)state;
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        if (hist_init(&metrics[m]) != 0)
            return -1;
    record(CLIENT_RESPONSE, 20 * MS, 3);
    hist_record_beyond(&metrics[CLIENT_RESPONSE], 1);
    record(CLIENT_SERVICE, 5 * MS, 3);
    record(CLIENT_OWN, 2 * MS, 2);
    record(CLIENT_OPEN_LAG, 4 * MS, 1);
    record(CLIENT_DUE_CONNECTED, 20 * MS, 1);
    record(CLIENT_DUE_SECURED, 40 * MS, 2);
    figures = (struct trial_figures){.n_due = 4};
    return slo_parse(&slo, "p99<10ms,service.p99<10ms,connect.p99<30ms,lost=0", error);
}

static int teardown(void **state)
{
    (void)state;
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        hist_free(&metrics[m]);
    return 0;
}

static void count(enum client_metric own, uint64_t n_own, bool over_tls)
{
    client_exceeding_count(&slo,
                           &(struct client_exceeding_input){.metrics = metrics,
                                                            .over_tls = over_tls,
                                                            .own = own,
                                                            .length_ns = 100 * MS,
                                                            .n_lost = 1,
                                                            .n_own = n_own,
                                                            .n_own_connections = 7},
                           &figures);
}

static void check(unsigned goal, uint64_t n, uint64_t of, uint64_t own)
{
    assert_int_equal(figures.goals[goal].n, n);
    assert_int_equal(figures.goals[goal].of, of);
    assert_true(figures.goals[goal].own == own);
}

static void each_goal_has_its_metric_and_delays(void **state)
{
    (void)state;
    count(CLIENT_OWN, 5, false);
    check(0, 4, 4, 2 + 5);
    check(1, 0, 3, 2 + 5);
    check(2, 0, 1, 1 + 7);
    check(3, 1, 4, 5);
    assert_int_equal(figures.n_behind, 2);
}

static void delays_of_opening_count_where_each_query_opens_a_connection(void **state)
{
    (void)state;
    count(CLIENT_OPEN_LAG, 5, false);
    check(0, 4, 4, 1 + 5);
    check(1, 0, 3, 1 + 5);
    assert_int_equal(figures.n_behind, 1);
}

/* --max-connections were in progress when two more were due. */
static void what_never_began_is_lost_by_this_host(void **state)
{
    (void)state;
    hist_record_beyond(&metrics[CLIENT_OPEN_LAG], 2);
    count(CLIENT_OPEN_LAG, 5, false);
    check(0, 4, 4, 1 + 5 + 2);
    check(3, 1, 4, 5 + 2);
    count(CLIENT_OWN, 5, false); /* of a query nothing is known but its loss */
    check(3, 1, 4, 5);
}

static void with_tls_a_connection_is_established_once_it_is_secured(void **state)
{
    (void)state;
    count(CLIENT_OWN, 5, true);
    check(2, 2, 2, 1 + 7);
}

static void any_number_of_own_losses_stays_that(void **state)
{
    (void)state;
    count(CLIENT_OWN, UINT64_MAX, false);
    check(0, 4, 4, UINT64_MAX);
    check(3, 1, 4, UINT64_MAX);
}

/* The limit of the first goal is 10 ms. */
static void queries_far_above_the_limit_are_not_due_to_short_delays(void **state)
{
    (void)state;
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        hist_reset(&metrics[m]);
    record(CLIENT_RESPONSE, 300 * MS, 100);
    record(CLIENT_OWN, 2 * MS, 90);
    count(CLIENT_OWN, 0, false);
    check(0, 100, 100, 90);
    assert_int_equal(figures.goals[0].far, 100);
    count(CLIENT_OWN, 7, false);
    check(0, 100, 100, 97);
    assert_int_equal(figures.goals[0].far, 93);
    count(CLIENT_OWN, UINT64_MAX, false);
    assert_int_equal(figures.goals[0].far, 0);
    record(CLIENT_OWN, 15 * MS, 10); /* less than a tenth of the 160 ms that all exceeded */
    count(CLIENT_OWN, 0, false);
    assert_int_equal(figures.goals[0].far, 100);
    record(CLIENT_OWN, 40 * MS, 10);
    count(CLIENT_OWN, 0, false);
    assert_int_equal(figures.goals[0].far, 90);
}

static void queries_that_long_delays_made_slow_are_not_far_above_the_limit(void **state)
{
    (void)state;
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        hist_reset(&metrics[m]);
    record(CLIENT_RESPONSE, 300 * MS, 100);
    record(CLIENT_OWN, 295 * MS, 100);
    count(CLIENT_OWN, 0, false);
    check(0, 100, 100, 100);
    assert_int_equal(figures.goals[0].far, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_goal_has_its_metric_and_delays, setup, teardown),
        cmocka_unit_test_setup_teardown(delays_of_opening_count_where_each_query_opens_a_connection,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(what_never_began_is_lost_by_this_host, setup, teardown),
        cmocka_unit_test_setup_teardown(with_tls_a_connection_is_established_once_it_is_secured,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(any_number_of_own_losses_stays_that, setup, teardown),
        cmocka_unit_test_setup_teardown(queries_far_above_the_limit_are_not_due_to_short_delays,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            queries_that_long_delays_made_slow_are_not_far_above_the_limit, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
