/* SPDX-License-Identifier: MIT
 * test_judge_goals: the goals of --assert, judged on made-up results, and what the reports say. */
#include "client/judge_goals.h"

#include "client/report_goals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US        1000ull
#define MS        1000000ull
#define N_QUERIES 2000u

static struct client_result *result;
static struct client_plan plan;
static struct slo slo;

/* All were answered in 20 ms, delayed by 10 us here. */
static int setup_goals(void **state)
{
    struct client_result *r = calloc(1, sizeof *r);

    (void)state;
    assert_non_null(r);
    result = r;
    memset(&plan, 0, sizeof plan);
    for (int i = 0; i < CLIENT_N_METRICS; i++)
        assert_int_equal(hist_init(&r->metrics[i]), 0);
    for (unsigned i = 0; i < N_QUERIES; i++) {
        hist_record(&r->metrics[CLIENT_RESPONSE], 20 * MS);
        hist_record(&r->metrics[CLIENT_SERVICE], 19 * MS);
        hist_record(&r->metrics[CLIENT_OWN], 10 * US);
    }
    tally_add(&r->tally.queries[TALLY_MEASURED].scheduled, N_QUERIES);
    tally_add(&r->tally.queries[TALLY_MEASURED].answered, N_QUERIES);
    r->scheduled_ns = 2000 * MS;
    return 0;
}

static int teardown_goals(void **state)
{
    (void)state;
    for (int i = 0; i < CLIENT_N_METRICS; i++)
        hist_free(&result->metrics[i]);
    free(result);
    return 0;
}

static void add_lost(unsigned n)
{
    tally_add(&result->tally.queries[TALLY_MEASURED].scheduled, n);
    hist_record_beyond(&result->metrics[CLIENT_RESPONSE], n);
}

static void judge(const char *goals)
{
    char error[SLO_ERROR_BYTES];

    assert_int_equal(slo_parse(&slo, goals, error), 0);
    client_judge_goals(result, &plan, &slo);
}

static enum client_goal_state state_of(const char *goal)
{
    judge(goal);
    return result->goals.states[0];
}

static void assert_line(unsigned i, const char *expected)
{
    char text[REPORT_GOAL_BYTES];

    assert_string_equal(report_goal(text, &result->goals, i), expected);
}

static void a_run_without_goals_meets_them(void **state)
{
    (void)state;
    assert_true(client_goals_are_met(&result->goals));
    assert_false(client_goals_are_missed(&result->goals));
}

static void goals_are_met_or_missed_by_counting(void **state)
{
    (void)state;
    judge("p99<21ms,service.p50<20ms,lost=0");
    assert_true(client_goals_are_met(&result->goals));
    judge("p99<21ms,p50<15ms");
    assert_int_equal(result->goals.states[0], CLIENT_GOAL_MET);
    assert_int_equal(result->goals.states[1], CLIENT_GOAL_MISSED);
    assert_false(client_goals_are_met(&result->goals));
    assert_true(client_goals_are_missed(&result->goals));
}

static void the_unanswered_are_slower_than_every_limit(void **state)
{
    (void)state;
    add_lost(30);
    assert_int_equal(state_of("p99<1h"), CLIENT_GOAL_MISSED);
    assert_int_equal(state_of("p90<1h"), CLIENT_GOAL_MET);
    assert_int_equal(state_of("lost<2%"), CLIENT_GOAL_MET);
    assert_int_equal(state_of("lost<1%"), CLIENT_GOAL_MISSED);
    assert_int_equal(state_of("lost=0"), CLIENT_GOAL_MISSED);
}

static void a_goal_that_few_queries_met_is_undecided(void **state)
{
    (void)state;
    assert_int_equal(state_of("p99<21ms"), CLIENT_GOAL_MET);
    assert_int_equal(state_of("p999<21ms"), CLIENT_GOAL_TOO_FEW);
    assert_int_equal(state_of("lost<0.1%"), CLIENT_GOAL_TOO_FEW);
    /* ten values may exceed it: the fewest that decide */
    assert_int_equal(state_of("lost<0.5%"), CLIENT_GOAL_MET);
    assert_int_equal(state_of("lost<0.499%"), CLIENT_GOAL_TOO_FEW);
    assert_false(client_goals_are_met(&result->goals));
    assert_false(client_goals_are_missed(&result->goals));
    assert_int_equal(state_of("p999<15ms"), CLIENT_GOAL_MISSED); /* few are enough for that */
    assert_int_equal(state_of("max<21ms"), CLIENT_GOAL_MET);     /* one is */
}

static void what_this_host_delayed_decides_nothing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_QUERIES; i++)
        hist_record(&result->metrics[CLIENT_OWN], 3 * MS);
    assert_int_equal(state_of("p50<15ms"), CLIENT_GOAL_OWN);
    assert_int_equal(result->goals.figures.goals[0].own, N_QUERIES);
    assert_false(client_goals_are_missed(&result->goals));
    assert_int_equal(state_of("p99<30ms"), CLIENT_GOAL_MET);
}

/* All took 20 ms: what decides p50<16ms decides lower limits, too. */
static void a_lower_limit_is_not_in_doubt_if_a_higher_one_was_missed(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_QUERIES; i++)
        hist_record(&result->metrics[CLIENT_OWN], MS);
    assert_int_equal(state_of("p50<16ms"), CLIENT_GOAL_MISSED);
    assert_int_equal(state_of("p50<1ms"), CLIENT_GOAL_MISSED);
    assert_int_equal(result->goals.figures.goals[0].own, N_QUERIES);
}

static void queries_lost_by_this_host_decide_nothing(void **state)
{
    (void)state;
    add_lost(30);
    tally_add(&result->tally.datagrams.dropped, 30);
    assert_int_equal(state_of("lost<1%"), CLIENT_GOAL_OWN);
    add_lost(30);
    assert_int_equal(state_of("lost<1%"), CLIENT_GOAL_MISSED);
}

/* The run was interrupted, or its --drain was short. */
static void queries_that_were_not_awaited_decide_nothing(void **state)
{
    (void)state;
    add_lost(30);
    tally_add(&result->tally.queries[TALLY_MEASURED].cancelled, 30);
    assert_int_equal(state_of("lost<1%"), CLIENT_GOAL_OWN);
    assert_int_equal(state_of("p99<1h"), CLIENT_GOAL_OWN);
    add_lost(30);
    assert_int_equal(state_of("lost<1%"), CLIENT_GOAL_MISSED);
}

/* Each query that waits for a new connection is lost if there is no port for it. */
static void where_connections_are_reopened_none_may_be_missing_here(void **state)
{
    (void)state;
    add_lost(300);
    tally_add(&result->tally.connections.ended[PHASE_CONNECT][REASON_PORTS], 1);
    assert_int_equal(state_of("lost<1%"), CLIENT_GOAL_MISSED);
    plan.config.queries_per_conn = 10;
    assert_int_equal(state_of("lost<1%"), CLIENT_GOAL_OWN);
    assert_int_equal(state_of("p99<30ms"), CLIENT_GOAL_OWN);
    assert_line(0, "p99<30ms undecided: 300 of 2,300 queries took longer or were lost (13 %); this "
                   "host itself may have delayed or lost 300 of them");
}

static void losses_of_a_client_that_fell_behind_decide_nothing(void **state)
{
    (void)state;
    add_lost(300);
    for (unsigned i = 0; i < N_QUERIES / 2; i++)
        hist_record(&result->metrics[CLIENT_OWN], 50 * MS);
    assert_int_equal(state_of("lost<1%"), CLIENT_GOAL_OWN);
}

static void connecting_is_judged_from_the_time_it_was_due(void **state)
{
    struct hist *metrics = result->metrics;

    (void)state;
    assert_int_equal(state_of("connect.p50<5ms"), CLIENT_GOAL_UNMEASURED);
    for (unsigned i = 0; i < 100; i++)
        hist_record(&metrics[CLIENT_DUE_CONNECTED], 10 * MS);
    assert_int_equal(state_of("connect.p50<5ms"), CLIENT_GOAL_MISSED);
    assert_int_equal(state_of("connect.p50<15ms"), CLIENT_GOAL_MET);
    for (unsigned i = 0; i < 100; i++)
        hist_record(&metrics[CLIENT_OPEN_LAG], 1 * MS);
    assert_int_equal(state_of("connect.p50<5ms"), CLIENT_GOAL_OWN);
    plan.config.tls = (struct tls_context *)result; /* any: then the handshake counts */
    assert_int_equal(state_of("connect.p50<5ms"), CLIENT_GOAL_UNMEASURED);
}

static void a_run_without_queries_is_undecided(void **state)
{
    (void)state;
    for (int i = 0; i < CLIENT_N_METRICS; i++)
        hist_reset(&result->metrics[i]);
    memset(&result->tally, 0, sizeof result->tally);
    judge("p99<1s,lost=0");
    assert_int_equal(result->goals.states[0], CLIENT_GOAL_UNMEASURED);
    assert_int_equal(result->goals.states[1], CLIENT_GOAL_UNMEASURED);
}

/* --- reports --- */

static void verb_agrees_with_the_count(void **state)
{
    (void)state;
    result->goals.slo = &slo;
    assert_int_equal(slo_parse(&slo, "lost=0", (char[SLO_ERROR_BYTES]){0}), 0);
    result->goals.states[0] = CLIENT_GOAL_MET;
    result->goals.figures.goals[0] = (struct trial_exceeding){.n = 0, .of = 1};
    assert_line(0, "lost=0 met: 0 of 1 query was lost (0 %)");
    result->goals.figures.goals[0].of = 2;
    assert_line(0, "lost=0 met: 0 of 2 queries were lost (0 %)");
    assert_int_equal(slo_parse(&slo, "p50<1s", (char[SLO_ERROR_BYTES]){0}), 0);
    assert_line(0, "p50<1s met: 0 of 2 queries took longer or were lost (0 %)");
    result->goals.figures.goals[0].of = 1;
    assert_line(0, "p50<1s met: 0 of 1 query took longer or was lost (0 %)");
    assert_int_equal(slo_parse(&slo, "connect.p50<1s", (char[SLO_ERROR_BYTES]){0}), 0);
    assert_line(0, "connect.p50<1s met: 0 of 1 connection took longer or failed (0 %)");
    result->goals.figures.goals[0].of = 2;
    assert_line(0, "connect.p50<1s met: 0 of 2 connections took longer or failed (0 %)");
}

static void each_goal_has_a_line(void **state)
{
    (void)state;
    add_lost(30);
    judge("p99<1s,p50<30ms,p999<1s,lost=0");
    assert_line(0, "p99<1s missed: 30 of 2,030 queries took longer or were lost (1.48 %)");
    assert_line(1, "p50<30ms met: 30 of 2,030 queries took longer or were lost (1.48 %)");
    assert_line(3, "lost=0 missed: 30 of 2,030 queries were lost (1.48 %)");
    for (unsigned i = 0; i < N_QUERIES; i++)
        hist_record(&result->metrics[CLIENT_OWN], 3 * MS);
    judge("p50<15ms,connect.p99<1s");
    assert_line(0,
                "p50<15ms undecided: 2,030 of 2,030 queries took longer or were lost (100 %); this "
                "host itself may have delayed or lost 2,000 of them");
    assert_line(1, "connect.p99<1s undecided: nothing was measured");
}

/* The burst that it then sends may be too much for the server. */
static void losses_of_a_host_that_was_late_are_said_to_be_in_doubt(void **state)
{
    (void)state;
    add_lost(30);
    tally_add(&result->tally.datagrams.dropped, 30);
    judge("lost=0");
    assert_line(0, "lost=0 undecided: 30 of 2,030 queries were lost (1.48 %); this host itself may "
                   "have delayed or lost 30 of them");
    tally_sub(&result->tally.datagrams.dropped, 30);
    for (unsigned i = 0; i < 300; i++)
        hist_record(&result->metrics[CLIENT_OWN], 30 * MS);
    judge("lost=0");
    assert_line(0,
                "lost=0 undecided: 30 of 2,030 queries were lost (1.48 %); this host delayed 300 "
                "queries, which may have caused losses");
    result->goals.figures.n_behind = 1; /* of a few */
    assert_line(0, "lost=0 undecided: 30 of 2,030 queries were lost (1.48 %); this host delayed 1 "
                   "query, which may have caused losses");
}

static void a_share_is_printed_without_an_exponent_and_as_all_only_if_it_is(void **state)
{
    (void)state;
    add_lost(1);
    judge("lost=0");
    result->goals.figures.goals[0].of = 5000000;
    assert_line(0, "lost=0 missed: 1 of 5,000,000 queries was lost (below 0.0001 %)");
    result->goals.figures.goals[0].of = 1000000;
    assert_line(0, "lost=0 missed: 1 of 1,000,000 queries was lost (0.0001 %)");
    result->goals.figures.goals[0] = (struct trial_exceeding){.n = 1, .of = 1};
    assert_line(0, "lost=0 missed: 1 of 1 query was lost (100 %)");
    result->goals.figures.goals[0] = (struct trial_exceeding){.n = 99999, .of = 100000};
    assert_line(0, "lost=0 missed: 99,999 of 100,000 queries were lost (99.9 %)"); /* not all */
}

static void few_queries_are_said_to_be_few(void **state)
{
    (void)state;
    judge("lost<0.1%");
    assert_line(0, "lost<0.1% undecided: 0 of 2,000 queries were lost (0 %); at least 10,000 are "
                   "needed to tell");
}

static void print_goals(FILE *out)
{
    struct json j;

    report_goals_text(out, &result->goals);
    json_init(&j, out);
    json_object_begin(&j, NULL);
    report_goals_json(&j, &result->goals);
    json_object_end(&j);
}

static void the_reports_have_all_of_them(void **state)
{
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    (void)state;
    assert_non_null(out);
    for (unsigned i = 0; i < 1900; i++)
        hist_record(&result->metrics[CLIENT_OWN], 1400 * US);
    judge("p90<15ms,lost<0.1%,service.p90<13ms,connect.p90<1s");
    print_goals(out);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "Goals        p90<15ms missed: "));
    assert_non_null(strstr(text, "\n             lost<0.1% undecided: "));
    assert_non_null(strstr(text, "\"goal\": \"p90<15ms\","));
    assert_non_null(
        strstr(text, "\"result\": \"missed\",\n      \"why\": null,\n      \"exceeding\": 2000,\n"
                     "      \"of\": 2000,\n      \"own\": 0"));
    assert_non_null(strstr(text, "\"result\": \"undecided\",\n      \"why\": \"too-few\""));
    assert_non_null(
        strstr(text, "\"why\": \"own-delays\",\n      \"exceeding\": 2000,\n      \"of\": 2000,\n"
                     "      \"own\": 1900\n"));
    assert_non_null(strstr(text, "\"goal\": \"connect.p90<1s\",\n      \"result\": \"undecided\",\n"
                                 "      \"why\": \"nothing-measured\",\n      \"exceeding\": 0,\n"
                                 "      \"of\": 0,\n      \"own\": 0\n    }\n  ]\n"));
    free(text);
}

static void without_goals_the_reports_have_none(void **state)
{
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    (void)state;
    assert_non_null(out);
    print_goals(out);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "\"goals\": null"));
    assert_null(strstr(text, "Goals"));
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_goals, teardown_goals)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_without_goals_meets_them),
        TEST(goals_are_met_or_missed_by_counting),
        TEST(the_unanswered_are_slower_than_every_limit),
        TEST(a_goal_that_few_queries_met_is_undecided),
        TEST(what_this_host_delayed_decides_nothing),
        TEST(a_lower_limit_is_not_in_doubt_if_a_higher_one_was_missed),
        TEST(queries_lost_by_this_host_decide_nothing),
        TEST(queries_that_were_not_awaited_decide_nothing),
        TEST(where_connections_are_reopened_none_may_be_missing_here),
        TEST(losses_of_a_client_that_fell_behind_decide_nothing),
        TEST(connecting_is_judged_from_the_time_it_was_due),
        TEST(a_run_without_queries_is_undecided),
        TEST(verb_agrees_with_the_count),
        TEST(each_goal_has_a_line),
        TEST(losses_of_a_host_that_was_late_are_said_to_be_in_doubt),
        TEST(a_share_is_printed_without_an_exponent_and_as_all_only_if_it_is),
        TEST(few_queries_are_said_to_be_few),
        TEST(the_reports_have_all_of_them),
        TEST(without_goals_the_reports_have_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
