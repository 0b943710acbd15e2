/* SPDX-License-Identifier: MIT
 * test_figures: handing over two sets of histograms. */
#include "client/worker/figures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct client_figures figures;
static struct hist into[CLIENT_N_QUERY_METRICS];

static int setup(void **state)
{
    (void)state;
    figures = (struct client_figures){0};
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        if (hist_init(&into[m]) != 0)
            return -1;
    return client_figures_init(&figures, 3, true, 0);
}

static int teardown(void **state)
{
    (void)state;
    for (int m = 0; m < CLIENT_N_QUERY_METRICS; m++)
        hist_free(&into[m]);
    client_figures_free(&figures);
    return 0;
}

static void record(uint64_t ns)
{
    hist_record(&figures.metrics[CLIENT_RESPONSE], ns);
}

static void a_set_is_collected_once_after_it_was_handed_over(void **state)
{
    (void)state;
    record(10);
    client_figures_collect(&figures, into, NULL);
    assert_int_equal(into[CLIENT_RESPONSE].count, 0);
    client_figures_hand_over(&figures);
    record(20);
    client_figures_collect(&figures, into, NULL);
    client_figures_collect(&figures, into, NULL);
    assert_int_equal(into[CLIENT_RESPONSE].count, 1);
    assert_int_equal(into[CLIENT_RESPONSE].max_ns, 10);
}

static void a_set_that_is_not_collected_is_not_recorded_into(void **state)
{
    (void)state;
    record(10);
    client_figures_hand_over(&figures);
    record(20);
    client_figures_hand_over(&figures); /* the main thread is busy */
    record(30);
    client_figures_collect(&figures, into, NULL);
    assert_int_equal(into[CLIENT_RESPONSE].count, 1);
    client_figures_hand_over(&figures);
    client_figures_collect(&figures, into, NULL);
    assert_int_equal(into[CLIENT_RESPONSE].count, 3);
}

static void the_rest_is_all_that_was_not_collected(void **state)
{
    (void)state;
    record(10);
    client_figures_hand_over(&figures);
    client_figures_collect(&figures, into, NULL);
    record(20);
    client_figures_hand_over(&figures);
    record(30);
    client_figures_collect_rest(&figures, into, NULL);
    assert_int_equal(into[CLIENT_RESPONSE].count, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_set_is_collected_once_after_it_was_handed_over, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_set_that_is_not_collected_is_not_recorded_into, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_rest_is_all_that_was_not_collected, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
