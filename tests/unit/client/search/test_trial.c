/* SPDX-License-Identifier: MIT
 * test_trial: good, bad, and what this host is to blame for. */
#include "client/search/trial.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct slo slo; /* p99<10ms,lost<0.1% */

static int setup(void **state)
{
    char error[SLO_ERROR_BYTES];

    (void)state;
    return slo_parse(&slo, "p99<10ms,lost<0.1%", error);
}

/* Of 10,000 queries. */
static struct trial_figures figures(uint64_t n_slow, uint64_t n_lost)
{
    return (struct trial_figures){
        .n_due = 10000, .goals = {{.n = n_slow, .of = 10000}, {.n = n_lost, .of = 10000}}};
}

static void check(const struct trial_figures *f, enum trial_class class, enum trial_reason reason,
                  unsigned goal)
{
    const struct trial_judgment j = trial_judge(&slo, f);

    assert_int_equal(j.class, class);
    assert_int_equal(j.reason, reason);
    assert_int_equal(j.goal, goal);
}

static void every_goal_has_to_be_met(void **state)
{
    const struct trial_figures good = figures(100, 9), slow = figures(101, 9),
                               lossy = figures(100, 10), both = figures(200, 100),
                               slower = figures(5000, 20);

    (void)state;
    check(&good, TRIAL_GOOD, TRIAL_NO_REASON, 0);
    check(&slow, TRIAL_BAD, TRIAL_GOAL, 0);
    check(&lossy, TRIAL_BAD, TRIAL_GOAL, 1);
    check(&both, TRIAL_BAD, TRIAL_GOAL, 1); /* 10 times what is allowed, the other one twice */
    check(&slower, TRIAL_BAD, TRIAL_GOAL, 0);
}

static void a_proof_is_beyond_doubt(void **state)
{
    struct trial_figures f = figures(60, 5);
    struct trial_judgment j;

    (void)state;
    assert_int_equal(trial_judge_proof(&slo, &f).class,
                     TRIAL_GOOD); /* nothing known of the error */
    f.goals[0].error = 0.0039;
    assert_int_equal(trial_judge_proof(&slo, &f).class, TRIAL_GOOD);
    f.goals[0].error = 0.0041; /* 0.6 % and as much are more than 1 % */
    j = trial_judge_proof(&slo, &f);
    assert_int_equal(j.class, TRIAL_BAD);
    assert_int_equal(j.reason, TRIAL_IN_DOUBT);
    assert_int_equal(j.goal, 0);
    check(&f, TRIAL_GOOD, TRIAL_NO_REASON, 0); /* the control: any other trial */
    f.goals[0].error = 0;
    f.goals[1].error = 0.0006;
    assert_int_equal(trial_judge_proof(&slo, &f).goal, 1);
    f.grew = true; /* what is certain is what is named */
    assert_int_equal(trial_judge_proof(&slo, &f).reason, TRIAL_QUEUE);
}

static void a_growing_queue_is_bad(void **state)
{
    struct trial_figures f = figures(0, 0);

    (void)state;
    f.grew = true;
    check(&f, TRIAL_BAD, TRIAL_QUEUE, 0);
}

static void a_trial_decided_by_this_host_is_void(void **state)
{
    struct trial_figures f = figures(150, 0);

    (void)state;
    f.goals[0].own = 49; /* without these 101 are left */
    check(&f, TRIAL_BAD, TRIAL_GOAL, 0);
    f.goals[0].own = 50;
    check(&f, TRIAL_VOID, TRIAL_HOST_NOISE, 0);
    f.goals[0].own = 10000;
    check(&f, TRIAL_VOID, TRIAL_HOST_NOISE, 0);
    f.goals[0].far = 100;
    check(&f, TRIAL_VOID, TRIAL_HOST_NOISE, 0);
    f.goals[0].far = 101;
    check(&f, TRIAL_BAD, TRIAL_GOAL, 0);
    f.goals[0].n = f.goals[0].far = 100; /* good in spite of them */
    check(&f, TRIAL_GOOD, TRIAL_NO_REASON, 0);
}

static void a_load_that_was_not_sent_in_time_is_void(void **state)
{
    struct trial_figures f = figures(0, 0);

    (void)state;
    f.n_behind = 1000;
    check(&f, TRIAL_GOOD, TRIAL_NO_REASON, 0);
    f.n_behind = 1001;
    check(&f, TRIAL_VOID, TRIAL_GENERATOR_LIMITED, 0);
    f.grew = true;
    check(&f, TRIAL_VOID, TRIAL_GENERATOR_LIMITED, 0);
    f.goals[1].n = 10000; /* a burst may be what the server dropped */
    check(&f, TRIAL_VOID, TRIAL_GENERATOR_LIMITED, 0);
    f.goals[0] = (struct trial_exceeding){
        .n = 10000, .of = 10000, .own = 1001}; /* slow even without this host's delays */
    check(&f, TRIAL_BAD, TRIAL_GOAL, 0);
}

static void what_this_host_could_not_open_says_nothing_of_the_server(void **state)
{
    struct trial_figures f = figures(0, 15);

    (void)state;
    f.goals[1].own = f.n_not_opened = 5; /* 10 of 10,000 are still too many */
    check(&f, TRIAL_BAD, TRIAL_GOAL, 1);
    f.goals[1].own = f.n_not_opened = 6;
    check(&f, TRIAL_VOID, TRIAL_NOT_OPENED, 0);
    f.goals[1].n = 6; /* good in spite of them */
    check(&f, TRIAL_GOOD, TRIAL_NO_REASON, 0);
}

static void without_queries_nothing_is_known(void **state)
{
    const struct trial_figures f = {0};

    (void)state;
    check(&f, TRIAL_VOID, TRIAL_NOTHING_MEASURED, 0);
}

static void a_trial_is_lost_when_the_rest_cannot_save_it(void **state)
{
    struct trial_figures slow = {.n_due = 500, .goals = {{.n = 100, .of = 500}, {.of = 500}}};
    struct trial_figures lossy = {.n_due = 500, .goals = {{.of = 500}, {.n = 9, .of = 500}}};

    (void)state;
    assert_false(trial_is_lost(&slo, &slow, 10000)); /* 1 % of the whole is still met */
    assert_true(trial_is_lost(&slo, &slow, 9900));
    slow.goals[0].n = 101;
    assert_true(trial_is_lost(&slo, &slow, 10000));
    slow.goals[0].own = 1; /* that may be what made the difference */
    assert_false(trial_is_lost(&slo, &slow, 10000));
    assert_false(trial_is_lost(&slo, &lossy, 10000));
    lossy.goals[1].n = 10;
    assert_true(trial_is_lost(&slo, &lossy, 10000));
    lossy.n_behind = 51; /* so late that a burst may be what the server dropped */
    assert_false(trial_is_lost(&slo, &lossy, 10000));
    assert_false(trial_is_lost(&slo, &(struct trial_figures){0}, 10000));
}

static void a_trial_is_void_when_the_rest_cannot_make_it_good(void **state)
{
    struct trial_figures late = {.n_due = 5000, .goals = {{.of = 5000}, {.of = 5000}}};
    struct trial_figures unopened = late;

    (void)state;
    late.n_behind = 1000;
    assert_false(trial_is_void(&slo, &late, 10000)); /* 10 % of the whole are tolerated */
    late.n_behind = 1001;
    assert_true(trial_is_void(&slo, &late, 10000));
    late.goals[0].n = late.goals[0].own = 51; /* without these none is slow */
    assert_true(trial_is_void(&slo, &late, 10000));
    late.goals[0].own = 0; /* so far it is bad, and the rest may change that */
    assert_false(trial_is_void(&slo, &late, 10000));
    unopened.n_not_opened = unopened.goals[1].n = unopened.goals[1].own = 9;
    assert_false(trial_is_void(&slo, &unopened, 10000));
    unopened.n_not_opened = unopened.goals[1].n = unopened.goals[1].own = 10;
    assert_true(trial_is_void(&slo, &unopened, 10000));
    unopened.n_not_opened = 0; /* the server may still lose as many */
    assert_false(trial_is_void(&slo, &unopened, 10000));
    assert_false(trial_is_void(&slo, &(struct trial_figures){0}, 10000));
}

/* The probability that a Poisson variable is larger than n. */
static double exceeds(double mean, uint64_t n)
{
    double p = exp(-mean), below = p;

    for (uint64_t i = 1; i <= n; i++) {
        p *= mean / (double)i;
        below += p;
    }
    return 1 - below;
}

static void a_trial_hardly_ever_has_more_queries_than_it_may_have(void **state)
{
    static const double means[] = {0.5, 1, 10, 20, 200, 500};

    (void)state;
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        assert_true(exceeds(means[i], trial_most_queries(means[i])) < 2e-4);
    assert_true(exceeds(200, 210) > 0.2); /* 5 % more are not rare */
    assert_in_range(trial_most_queries(10000), 10400, 10401);
}

/* 120 of 230 queries are too many, and of 250 they are not. */
static void a_trial_with_few_queries_is_not_lost_too_soon(void **state)
{
    const struct trial_figures f = {.n_due = 130, .goals = {{.n = 120, .of = 130}}};
    struct slo median;
    char error[SLO_ERROR_BYTES];

    (void)state;
    assert_int_equal(slo_parse(&median, "p50<10ms", error), 0);
    assert_true(trial_is_lost(&median, &f, 230));
    assert_false(trial_is_lost(&median, &f, trial_most_queries(200)));
}

static void more_queries_than_expected_are_judged_as_they_are(void **state)
{
    struct trial_figures f = figures(100, 0);

    (void)state;
    assert_false(trial_is_lost(&slo, &f, 9000));
    f.goals[0].n = 101;
    assert_true(trial_is_lost(&slo, &f, 9000));
}

static void reasons_have_names(void **state)
{
    (void)state;
    assert_string_equal(trial_class_name(TRIAL_VOID), "void");
    assert_null(trial_reason_name(&slo, TRIAL_NO_REASON, 0));
    assert_string_equal(trial_reason_name(&slo, TRIAL_GOAL, 1), "lost<0.1%");
    assert_string_equal(trial_reason_name(&slo, TRIAL_QUEUE, 0), "queue");
    assert_string_equal(trial_reason_name(&slo, TRIAL_IN_DOUBT, 0), "in-doubt");
    assert_string_equal(trial_reason_name(&slo, TRIAL_CONNECTIONS, 0), "connections");
    assert_string_equal(trial_reason_name(&slo, TRIAL_GENERATOR_LIMITED, 0), "generator-limited");
    assert_string_equal(trial_reason_name(&slo, TRIAL_HOST_NOISE, 0), "host-noise");
    assert_string_equal(trial_reason_name(&slo, TRIAL_NOT_OPENED, 0), "not-opened");
    assert_string_equal(trial_reason_name(&slo, TRIAL_NOTHING_MEASURED, 0), "nothing-measured");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_goal_has_to_be_met),
        cmocka_unit_test(a_proof_is_beyond_doubt),
        cmocka_unit_test(a_growing_queue_is_bad),
        cmocka_unit_test(a_trial_decided_by_this_host_is_void),
        cmocka_unit_test(a_load_that_was_not_sent_in_time_is_void),
        cmocka_unit_test(what_this_host_could_not_open_says_nothing_of_the_server),
        cmocka_unit_test(without_queries_nothing_is_known),
        cmocka_unit_test(a_trial_is_lost_when_the_rest_cannot_save_it),
        cmocka_unit_test(a_trial_is_void_when_the_rest_cannot_make_it_good),
        cmocka_unit_test(a_trial_hardly_ever_has_more_queries_than_it_may_have),
        cmocka_unit_test(a_trial_with_few_queries_is_not_lost_too_soon),
        cmocka_unit_test(more_queries_than_expected_are_judged_as_they_are),
        cmocka_unit_test(reasons_have_names),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
