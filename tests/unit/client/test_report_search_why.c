/* SPDX-License-Identifier: MIT
 * test_report_search_why: why a search ended, and what limited it. */
#include "report_search_steps.h"

/* The bounds are 1.96 % apart. */
static void a_search_cut_short_says_whether_its_bounds_are_narrow(void **state)
{
    (void)state;
    find.search.status = SEARCH_FOUND;
    find.search.cut_by = SEARCH_TIME;
    print_text();
    assert_null(strstr(text, "recover")); /* it was not to be tried */
    assert_has(text, "time ran out before all trials at these bounds were done;");
    find.search.config.min = 10;
    find.search.config.max = 10000;
    find.search.config.width = 0.019;
    print_text();
    assert_has(text, "time ran out before the bounds were within 1.9 %; a longer --find-time");
    find.search.config.width = 0.0009;
    for (size_t i = 0; i < find.search.n; i++)
        if (find.search.trials[i].order.load == 1020)
            find.search.trials[i].order.load = 1001;
    print_text(); /* no load lies between the bounds, so no time narrows them */
    assert_has(text, "1,000 q/s sustained, 1,001 q/s not (0.1 % apart)\n");
    assert_has(text, "time ran out before all trials at these bounds were done;");
}

static void an_answer_that_was_not_narrowed_says_why(void **state)
{
    (void)state;
    find.search.status = SEARCH_FOUND;
    find.search.confirmed = true;
    print_text();
    assert_null(strstr(text, "narrowed"));
    find.search.void_load = 1010;
    for (int i = 0; i < 4; i++)
        add(SEARCH_CONFIRM, 1010, TRIAL_VOID, TRIAL_HOST_NOISE);
    find.search.cut_by = SEARCH_VOID;
    print_text();
    assert_has(text,
               "apart)\n             not narrowed further: the trials at 1,010 q/s stayed void "
               "(host-noise)\n");
    print_json(&find);
    assert_has(text, "\"cut_by\": \"void-trials\"");
    find.search.cut_by = SEARCH_STOPPED;
    print_text();
    assert_has(text, "apart)\n             not narrowed further: stopped by a signal or through "
                     "--control\n");
    find.search.status = SEARCH_AT_LEAST;
    find.search.cut_by = SEARCH_SERVER_GONE;
    print_text();
    assert_has(text, "             after this was confirmed, the server stopped answering (see the "
                     "limiting factors)\n");
    find.search.status = SEARCH_INCONCLUSIVE; /* has its own reason */
    print_text();
    assert_null(strstr(text, "confirmed, the server"));
    print_json(&find);
    assert_has(text, "\"cut_by\": null");
}

static void other_answers_say_what_is_known(void **state)
{
    (void)state;
    find.search.status = SEARCH_INCONCLUSIVE;
    find.search.reason = SEARCH_TIME;
    print_text();
    assert_has(text, "Capacity     INCONCLUSIVE\n");
    assert_has(text, "lost=0; limited by p99<10ms\n");
    assert_has(text, "not enough time was left for another trial: use a longer --find-time; so far "
                     "1,000 q/s sustained, 1,020 "
                     "q/s not sustained\n");
    settings.what = CLIENT_FIND_CONNECTIONS; /* opening them takes time, too */
    print_text();
    assert_has(text, "use a longer --find-time, or a higher --connect-rate; so far");
    settings.what = CLIENT_FIND_RATE;
    print_json(&find);
    assert_has(text, "\"capacity\": null");
    assert_has(text, "\"reason\": \"time\"");
    find.search.reason = SEARCH_UNCONFIRMED;
    for (int i = 0; i < 3; i++) /* the last bad one counts, not the most frequent reason */
        add(SEARCH_CONFIRM, 950, TRIAL_BAD, i < 2 ? TRIAL_GOAL : TRIAL_QUEUE);
    add(SEARCH_CONFIRM, 950, TRIAL_VOID, TRIAL_HOST_NOISE);
    print_json(&find);
    assert_has(text, "\"limited_by\": \"queue\"");
    find.search.trials[find.search.n - 2].judgment.reason = TRIAL_IN_DOUBT;
    print_json(&find);
    assert_has(text, "\"limited_by\": \"p99<10ms\""); /* the goal in doubt */
    assert_has(text, "\"reason\": \"in-doubt\"");
    print_text();
    assert_has(text, "no long one confirmed them: use a longer --find-time; so far");
    find.search.n -= 4;
    find.search.reason = SEARCH_VOID;
    find.search.void_load = 1010;
    add(SEARCH_BISECT, 1010, TRIAL_VOID, TRIAL_HOST_NOISE);
    print_text();
    assert_has(text, "this host, not the server, was the limit at 1,010 q/s: host-noise (see "
                     "docs/capacity.md); so far");
    assert_null(strstr(text, "limited by"));
    assert_has(text, "23 trials in 150 s, 1 void\n");
    find.search.trials[find.search.n - 1].judgment.reason = TRIAL_CONNECTIONS;
    print_text();
    assert_has(text, "connections were missing before the trials at 1,010 q/s (see the "
                     "connection outcomes); so far");
    find.search.reason = SEARCH_TOO_MANY;
    print_text();
    assert_has(text, "no answer after 512 trials: use a larger --find-width; so far");
    find.search.reason = SEARCH_UNCONNECTED;
    print_text();
    assert_has(text, "no connection became usable (see the connection outcomes); so far");
    find.search.reason = SEARCH_SERVER_GONE;
    print_text();
    assert_has(text, "the server does not answer (see the limiting factors); so far");
    assert_null(strstr(text, "limited by"));
    find.search.config.tries_recovery = true;
    find.search.n = 11;
    find.search.status = SEARCH_AT_LEAST;
    find.search.reason = SEARCH_NO_REASON;
    print_text();
    assert_has(text, "Capacity     at least 1,000 q/s, the end of the range\n             service "
                     "level p99<10ms,lost=0\n             11 trials");
    find.search.cut_by = SEARCH_TIME;
    print_text();
    assert_has(text,
               "Capacity     at least 1,000 q/s, the end of the range\n             time ran out "
               "before all trials at this load were done; a longer --find-time");
    find.search.descended_to = 950;
    print_text();
    assert_has(text, "Capacity     at least 950 q/s: no higher load was confirmed\n             "
                     "service level");
}

/* As long as no more trials were good than bad. */
static void a_good_confirmation_of_a_load_that_failed_confirms_nothing(void **state)
{
    (void)state;
    find.search.status = SEARCH_INCONCLUSIVE;
    find.search.reason = SEARCH_UNCONFIRMED;
    add(SEARCH_CONFIRM, 975, TRIAL_BAD, TRIAL_GOAL);
    add(SEARCH_CONFIRM, 975, TRIAL_GOOD, TRIAL_NO_REASON);
    print_text();
    assert_has(text, "2.00 s at 975 q/s: p99<10ms\n             2.00 s at 975 q/s: good\n");
    add(SEARCH_CONFIRM, 975, TRIAL_BAD, TRIAL_GOAL);
    print_text();
    assert_has(text, "2.00 s at 975 q/s: good\n");
    assert_null(strstr(text, "confirmed\n"));
    find.search.trials[find.search.n - 1].judgment.class = TRIAL_GOOD;
    print_text();
    assert_has(text, "2.00 s at 975 q/s: confirmed\n             2.00 s at 975 q/s: confirmed\n");
}

/* Others could have outvoted a single bad confirmation of that load, but not two in doubt. */
static void a_descent_that_ended_at_the_start_of_the_range_needs_no_time(void **state)
{
    (void)state;
    find.search.status = SEARCH_INCONCLUSIVE;
    find.search.reason = SEARCH_UNCONFIRMED;
    add(SEARCH_CONFIRM, 10, TRIAL_BAD, TRIAL_GOAL);
    print_text();
    assert_has(text, "no long one confirmed them: use a longer --find-time; so far");
    find.search.n--;
    add(SEARCH_CONFIRM, 10, TRIAL_BAD, TRIAL_IN_DOUBT);
    add(SEARCH_CONFIRM, 10, TRIAL_BAD, TRIAL_IN_DOUBT);
    print_text();
    assert_has(text, "no long one confirmed them, down to the start of the range: use a smaller "
                     "MIN in --find-range; so far 10 q/s not sustained\n");
}

static void a_search_that_was_stopped_says_whether_it_had_begun(void **state)
{
    (void)state;
    find.search.n = 0;
    find.search.status = SEARCH_INCONCLUSIVE;
    find.search.reason = SEARCH_STOPPED;
    print_text();
    assert_has(text, "             the run ended before the search began\n");
    find.begin_ns = S_NS;
    print_text();
    assert_has(text, "             stopped by a signal or through --control\n");
}

/* From the counts of the trials that decided. */
static void limiting_factor_is_named_from_the_counts(void **state)
{
    (void)state;
    find.search.status = SEARCH_FOUND;
    print_json(&find);
    assert_has(text, "\"bound_by\": \"server\"");
    find.trials[12].syn_retransmits = 11 * 20 + 1; /* 20 of 2,000 are allowed */
    print_json(&find);
    assert_has(text, "\"bound_by\": \"syns-lost\"");
    print_text();
    assert_has(text, "             221 SYNs were retransmitted in the bad trials at that load\n");
    find.trials[12].overflows = 240;
    find.trials[0].overflows = 2; /* of a good trial: irrelevant */
    print_json(&find);
    assert_has(text, "\"bound_by\": \"accept-queue\"");
    print_text();
    assert_has(text, "the accept queue overflowed 240 times in the bad trials at that load\n");
    find.search.trials[13].judgment.reason = TRIAL_CONNECTIONS;
    find.trials[13].figures.n_not_opened = find.trials[13].n_without_port = 7;
    print_json(&find);
    assert_has(text, "\"bound_by\": \"ports\"");
    print_text(); /* names the same */
    assert_has(text, "7 connections could not be opened on this host (see the connection outcomes) "
                     "in the bad");
    assert_null(strstr(text, "accept queue"));
    find.search.status = SEARCH_INCONCLUSIVE;
    find.search.reason = SEARCH_VOID;
    find.search.void_load = 1010;
    add(SEARCH_BISECT, 1010, TRIAL_VOID, TRIAL_GENERATOR_LIMITED);
    print_json(&find);
    assert_has(text, "\"bound_by\": \"client\"");
    print_text();
    assert_has(text, "this host, not the server, was the limit at 1,010 q/s: ");
    find.trials[find.search.n - 1].n_not_begun = 1200;
    print_json(&find);
    assert_has(text, "\"bound_by\": \"max-connections\"");
    print_text();
    assert_has(text, "the --max-connections limit was reached at 1,010 q/s: raise it");
    assert_has(
        text,
        "1,200 connections were not opened because the --max-connections limit was reached in "
        "the void trials at that load\n");
}

/* Time ran out after a single bad trial: there is no bound yet, but the report says what happened.
 */
static void a_search_cut_short_names_what_happened_at_the_smallest_bad_load(void **state)
{
    (void)state;
    find.search.n = 11;
    add(SEARCH_DOUBLE, 2000, TRIAL_BAD, TRIAL_GOAL);
    find.trials[11].overflows = 21; /* more than 1 % of 2,000 */
    find.search.status = SEARCH_INCONCLUSIVE;
    find.search.reason = SEARCH_TIME;
    print_json(&find);
    assert_has(text, "\"upper\": null");
    assert_has(text, "\"bound_by\": \"accept-queue\"");
    assert_has(text, "\"limited_by\": \"p99<10ms\""); /* at the same load */
    find.search.status = SEARCH_AT_LEAST;             /* the others outvoted it */
    find.search.reason = SEARCH_NO_REASON;
    print_json(&find);
    assert_has(text, "\"bound_by\": null");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_search_cut_short_says_whether_its_bounds_are_narrow),
        TEST(an_answer_that_was_not_narrowed_says_why),
        TEST(other_answers_say_what_is_known),
        TEST(a_good_confirmation_of_a_load_that_failed_confirms_nothing),
        TEST(a_descent_that_ended_at_the_start_of_the_range_needs_no_time),
        TEST(a_search_that_was_stopped_says_whether_it_had_begun),
        TEST(limiting_factor_is_named_from_the_counts),
        TEST(a_search_cut_short_names_what_happened_at_the_smallest_bad_load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
