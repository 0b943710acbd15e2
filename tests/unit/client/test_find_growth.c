/* SPDX-License-Identifier: MIT
 * test_find_growth: when the queries under way of a trial are taken to grow. */
#include "client/find_growth.h"

#include "base/units.h"

#include "workers_steps.h"

#define S UNITS_NS_PER_S

static struct client_find_settings settings;
static struct client_config config;
static struct client_find f;

/* A trial of 4 s, from second 100 on. */
static int setup(void **state)
{
    (void)state;
    settings.what = CLIENT_FIND_RATE;
    config = (struct client_config){0};
    f = (struct client_find){.settings = &settings,
                             .config = &config,
                             .workers = &workers,
                             .measure_ns = 100 * S,
                             .end_ns = 104 * S};
    return start_workers();
}

static int teardown(void **state)
{
    (void)state;
    stop_workers();
    return 0;
}

static void look(struct trend *t, uint64_t early, uint64_t late)
{
    *t = (struct trend){0};
    trend_add_sample(t, early, S, 4 * S);
    trend_add_sample(t, late, 3 * S, 4 * S);
}

static bool was_seen(void)
{
    return client_find_growth_was_seen(&f, 5 * S);
}

static void nothing_grows_without_samples(void **state)
{
    (void)state;
    assert_false(was_seen());
    look(&f.trend, 10, 1000);
    assert_false(was_seen()); /* of all, none is known */
    look(&f.trend_of_all, 500, 1500);
    assert_true(was_seen());
    client_find_growth_reset(&f);
    assert_false(was_seen());
}

/* At first none of those measured is in flight, however long an answer takes. */
static void queries_of_the_start_of_the_trial_tell_slow_answers_from_a_queue(void **state)
{
    (void)state;
    look(&f.trend, 10, 1000);
    look(&f.trend_of_all, 1000, 1500);
    assert_false(was_seen());
    look(&f.trend_of_all, 1000, 1501);
    assert_true(was_seen());
    look(&f.trend, 1000, 1001);
    assert_false(was_seen());
}

/* Each is counted until it is established. */
static void connections_have_none_before_the_measurement(void **state)
{
    (void)state;
    settings.what = CLIENT_FIND_CONNECT_RATE;
    look(&f.trend, 10, 1000);
    assert_true(was_seen());
}

static void queries_that_are_lost_are_no_queue(void **state)
{
    (void)state;
    look(&f.trend_of_all, 100, 1000);
    look(&f.trend, 100, 300);
    assert_true(was_seen());
    f.trend = (struct trend){0};
    trend_add_sample(&f.trend, 100, S, 4 * S);
    trend_timed_out(&f.trend, 90, 2 * S, 5 * S);
    trend_add_sample(&f.trend, 300, 3 * S, 4 * S);
    assert_false(was_seen());
}

static void assert_least(const struct trend *t, uint64_t early, uint64_t late)
{
    uint64_t least_early, least_late;

    assert_true(trend_least(t, &least_early, &least_late));
    assert_int_equal(least_early, early);
    assert_int_equal(least_late, late);
}

/* Of 1,000 queries, 300 of them from the start of the trial, 10 have each of the other outcomes. */
static void samples_are_queries_in_flight(void **state)
{
    struct tally_queries *warmup = &all[0].figures.tally.queries[TALLY_WARMUP];
    struct tally_queries *measured = &all[1].figures.tally.queries[TALLY_MEASURED];

    (void)state;
    tally_add(&warmup->sent, 300);
    tally_add(&measured->sent, 700);
    tally_add(&measured->answered, 600);
    tally_add(&warmup->timeout, 10);
    tally_add(&warmup->error, 10);
    tally_add(&measured->cancelled, 10);
    tally_add(&all[0].figures.in_flight, 3);
    tally_add(&all[1].figures.in_flight, 4);
    tally_add(&all[0].figures.n_opened_for_query, 50);
    client_find_growth_sample(&f, 101 * S);
    tally_add(&measured->answered, 370);
    client_find_growth_sample(&f, 103 * S);
    assert_least(&f.trend, 7, 7);
    assert_least(&f.trend_of_all, 370, 0);
    tally_add(&measured->answered, 1); /* not yet among those sent, which were read before */
    client_find_growth_sample(&f, 103 * S);
    assert_least(&f.trend_of_all, 370, 0);
    client_find_growth_reset(&f);
    config.conn_per_query = true;
    client_find_growth_sample(&f, 101 * S);
    client_find_growth_sample(&f, 103 * S);
    assert_least(&f.trend, 50, 50);
}

/* Each in a digit of its own. */
static void what_was_given_up_is_known_once_the_measurement_has_begun(void **state)
{
    struct tally *t = &all[1].figures.tally;

    (void)state;
    tally_add(&t->queries[TALLY_MEASURED].timeout, 1);
    tally_add(&t->queries[TALLY_WARMUP].timeout, 20);
    tally_add(&t->connections.ended[PHASE_CONNECT][REASON_TIMEOUT], 300);
    tally_add(&t->connections.ended[PHASE_TLS][REASON_TIMEOUT], 4000);
    client_find_growth_sample_timeouts(&f, 5 * S, 100 * S - 1);
    assert_int_equal(f.trend.n_timed_out, 0);
    client_find_growth_sample_timeouts(&f, 5 * S, 100 * S);
    assert_int_equal(f.trend.n_timed_out, 1);
    config.conn_per_query = true;
    client_find_growth_sample_timeouts(&f, 5 * S, 100 * S);
    assert_int_equal(f.trend.n_timed_out, 4321);
}

/* Of 100 in flight a second into the trial, 90 time out within the next. */
static void losses_are_those_that_time_out_after_a_sample(void **state)
{
    struct client_figures *figures = &all[0].figures;

    (void)state;
    tally_add(&figures->tally.queries[TALLY_WARMUP].sent, 100);
    tally_add(&figures->in_flight, 100);
    client_find_growth_sample_timeouts(&f, S, 101 * S);
    client_find_growth_sample(&f, 101 * S);
    tally_add(&figures->tally.queries[TALLY_MEASURED].timeout, 90);
    client_find_growth_sample_timeouts(&f, S, 102 * S);
    assert_int_equal(f.trend.n_lost, 90);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_grows_without_samples),
        TEST(queries_of_the_start_of_the_trial_tell_slow_answers_from_a_queue),
        TEST(connections_have_none_before_the_measurement),
        TEST(queries_that_are_lost_are_no_queue),
        TEST(samples_are_queries_in_flight),
        TEST(what_was_given_up_is_known_once_the_measurement_has_begun),
        TEST(losses_are_those_that_time_out_after_a_sample),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
