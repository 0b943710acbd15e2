/* SPDX-License-Identifier: MIT
 * test_find_bound: which trials decide what limited a search, and what it is called. */
#include "client/find_bound.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct client_find f;

static int start(void **state)
{
    (void)state;
    f = (struct client_find){0};
    search_init(&f.search, &(struct search_config){.min = 1, .max = 1000, .width = 0.03});
    f.search.status = SEARCH_INCONCLUSIVE;
    f.search.reason = SEARCH_TIME;
    return 0;
}

/* A trial in which nothing was counted. */
static struct client_find_trial *add(double load, enum trial_class class, enum search_step step)
{
    f.search.trials[f.search.n] = (struct search_trial){
        .order = {.step = step, .load = load, .duration_ns = 1}, .judgment = {.class = class}};
    return &f.trials[f.search.n++];
}

static void nothing_limited_a_search_without_bad_trials(void **state)
{
    (void)state;
    assert_null(client_find_bound_name(&f));
    add(10, TRIAL_GOOD, SEARCH_DOUBLE)->overflows = 5;
    add(20, TRIAL_VOID, SEARCH_DOUBLE)->overflows = 5;
    assert_null(client_find_bound_name(&f));
}

static void bad_trials_at_the_smallest_bad_load_decide(void **state)
{
    struct client_find_evidence e;

    (void)state;
    add(40, TRIAL_BAD, SEARCH_DOUBLE)->overflows = 1000;
    add(20, TRIAL_BAD, SEARCH_DOUBLE)->syn_retransmits = 3;
    add(20, TRIAL_GOOD, SEARCH_DOUBLE)->overflows = 1000;
    add(20, TRIAL_VOID, SEARCH_DOUBLE)->overflows = 1000;
    add(20, TRIAL_BAD, SEARCH_OVERLOAD)->overflows = 1000;
    add(20, TRIAL_BAD, SEARCH_DOUBLE)->syn_retransmits = 4;
    client_find_bound(&f, &e);
    assert_int_equal(e.n_trials, 2);
    assert_int_equal(e.syn_retransmits, 7);
    assert_int_equal(e.overflows, 0);
    assert_string_equal(client_find_bound_name(&f), "syns-lost");
}

/* The server was slow at first. */
static void what_the_server_sustained_since_did_not_limit_it(void **state)
{
    (void)state;
    add(10, TRIAL_BAD, SEARCH_DOUBLE)->overflows = 1;
    add(20, TRIAL_GOOD, SEARCH_DOUBLE);
    f.search.trials[1].order.duration_ns = 60000000000; /* full length */
    assert_null(client_find_bound_name(&f));
    add(40, TRIAL_BAD, SEARCH_DOUBLE)->syn_retransmits = 1;
    assert_string_equal(client_find_bound_name(&f), "syns-lost");
}

static void void_trials_decide_if_they_ended_the_search(void **state)
{
    struct client_find_evidence e;

    (void)state;
    add(10, TRIAL_BAD, SEARCH_DOUBLE)->overflows = 5;
    add(20, TRIAL_VOID, SEARCH_DOUBLE)->overflows = 6;
    add(15, TRIAL_GOOD, SEARCH_DOUBLE)->overflows = 7;
    f.search.reason = SEARCH_VOID;
    f.search.void_load = 20;
    client_find_bound(&f, &e);
    assert_int_equal(e.n_trials, 1);
    assert_int_equal(e.overflows, 6);
    assert_string_equal(client_find_bound_name(&f), "client");
    f.trials[0].n_not_begun = 8; /* of a bad trial: irrelevant */
    assert_string_equal(client_find_bound_name(&f), "client");
    f.trials[1].n_not_begun = 9;
    assert_int_equal(client_find_bound(&f, &e), CLIENT_FIND_BY_IN_PROGRESS);
    assert_int_equal(e.n_not_begun, 9);
    assert_string_equal(client_find_bound_name(&f), "max-connections");
}

static void first_cause_on_the_way_to_the_server_is_named(void **state)
{
    struct client_find_trial *t = add(10, TRIAL_BAD, SEARCH_DOUBLE);

    (void)state;
    assert_string_equal(client_find_bound_name(&f), "server");
    t->overflows = HOST_COUNTERS_UNKNOWN; /* it is on another host */
    assert_string_equal(client_find_bound_name(&f), "server");
    t->syn_retransmits = 1;
    assert_string_equal(client_find_bound_name(&f), "syns-lost");
    t->overflows = 1;
    assert_string_equal(client_find_bound_name(&f), "accept-queue");
    t->figures.n_not_opened = 5;
    t->n_without_port = 2;
    assert_string_equal(client_find_bound_name(&f), "not-opened");
    t->n_without_port = 3;
    assert_string_equal(client_find_bound_name(&f), "ports");
    t->figures.n_not_opened = 6; /* as many for lack of a port as for other reasons */
    assert_string_equal(client_find_bound_name(&f), "ports");
}

/* Of 2,000 values in two trials, the goal allows 20 beyond its limit. */
static void fewer_events_than_the_goal_allows_are_not_why_it_was_missed(void **state)
{
    static const struct client_find_settings settings = {
        .slo = {.n = 2, .goals = {{.share_ppm = 0}, {.share_ppm = 10000}}}};
    struct client_find_trial *t[] = {add(10, TRIAL_BAD, SEARCH_DOUBLE),
                                     add(10, TRIAL_BAD, SEARCH_DOUBLE)};

    (void)state;
    f.settings = &settings;
    for (int i = 0; i < 2; i++) {
        f.search.trials[i].judgment = (struct trial_judgment){TRIAL_BAD, TRIAL_GOAL, 1};
        t[i]->figures.goals[1].of = 1000;
    }
    t[0]->syn_retransmits = t[0]->overflows = 20;
    assert_string_equal(client_find_bound_name(&f), "server");
    t[1]->syn_retransmits = 1;
    assert_string_equal(client_find_bound_name(&f), "syns-lost");
    t[1]->overflows = 1;
    assert_string_equal(client_find_bound_name(&f), "accept-queue");
    t[1]->syn_retransmits = t[1]->overflows = 0;
    f.search.trials[0].judgment.goal = f.search.trials[1].judgment.goal = 0; /* which allows none */
    assert_string_equal(client_find_bound_name(&f), "accept-queue");
}

/* It was bad even without their queries (client/search/trial.h). */
static void connections_not_opened_are_not_why_a_goal_was_missed(void **state)
{
    static const struct client_find_settings settings;
    struct client_find_trial *t = add(10, TRIAL_BAD, SEARCH_DOUBLE);
    struct client_find_evidence e;

    (void)state;
    f.settings = &settings;
    t->figures.n_not_opened = t->n_without_port = 3;
    f.search.trials[0].judgment.reason = TRIAL_CONNECTIONS;
    assert_string_equal(client_find_bound_name(&f), "ports");
    f.search.trials[0].judgment.reason = TRIAL_QUEUE;
    assert_string_equal(client_find_bound_name(&f), "server");
    f.search.trials[0].judgment.reason = TRIAL_GOAL;
    assert_int_equal(client_find_bound(&f, &e), CLIENT_FIND_BY_SERVER);
    assert_int_equal(e.n_not_opened, 0);
}

/* The host opened all that it was asked to; the server did not accept them. */
static void missing_connections_are_not_this_hosts_limit(void **state)
{
    (void)state;
    add(20, TRIAL_VOID, SEARCH_DOUBLE);
    f.search.trials[0].judgment.reason = TRIAL_CONNECTIONS;
    f.search.void_load = 20;
    assert_false(client_find_lacks_connections(&f));
    f.search.reason = SEARCH_VOID;
    assert_true(client_find_lacks_connections(&f));
    assert_string_equal(client_find_bound_name(&f), "server");
    f.trials[0].figures.n_not_opened = 1;
    assert_string_equal(client_find_bound_name(&f), "not-opened");
}

static void failed_confirmations_decide_if_they_ended_the_search(void **state)
{
    struct client_find_evidence e;

    (void)state;
    add(40, TRIAL_BAD, SEARCH_DOUBLE)->overflows = 1;
    add(20, TRIAL_GOOD, SEARCH_DOUBLE);
    add(19, TRIAL_BAD, SEARCH_CONFIRM)->syn_retransmits = 2;
    f.search.reason = SEARCH_UNCONFIRMED;
    client_find_bound(&f, &e);
    assert_int_equal(e.n_trials, 1);
    assert_string_equal(client_find_bound_name(&f), "syns-lost");
    f.search.trials[0].order.duration_ns = 60000000000; /* full length: the upper bound */
    add(19, TRIAL_GOOD, SEARCH_CONFIRM);                /* as often as bad */
    assert_string_equal(client_find_bound_name(&f), "syns-lost");
    f.search.reason = SEARCH_UNCONNECTED; /* it ended before another trial */
    assert_null(client_find_bound_name(&f));
}

static void failed_confirmations_decide_if_a_lower_load_was_confirmed(void **state)
{
    struct client_find_evidence e;

    (void)state;
    add(40, TRIAL_BAD, SEARCH_DOUBLE)->overflows = 1;
    add(20, TRIAL_GOOD, SEARCH_DOUBLE);
    add(19, TRIAL_BAD, SEARCH_CONFIRM)->overflows = 1;
    add(18, TRIAL_BAD, SEARCH_CONFIRM)->syn_retransmits = 2;
    add(17, TRIAL_GOOD, SEARCH_CONFIRM);
    f.search.status = SEARCH_FOUND;
    f.search.descended_to = 17;
    client_find_bound(&f, &e);
    assert_int_equal(e.n_trials, 1);
    assert_string_equal(client_find_bound_name(&f), "syns-lost");
}

static void a_void_confirmation_after_the_failed_one_decides_nothing(void **state)
{
    (void)state;
    add(40, TRIAL_BAD, SEARCH_DOUBLE)->overflows = 1;
    add(20, TRIAL_GOOD, SEARCH_DOUBLE);
    add(19, TRIAL_BAD, SEARCH_CONFIRM)->syn_retransmits = 2;
    add(18, TRIAL_VOID, SEARCH_CONFIRM)->overflows = 1;
    f.search.reason = SEARCH_UNCONFIRMED;
    assert_string_equal(client_find_bound_name(&f), "syns-lost");
}

/* While it was good as often as bad, it refutes nothing: the upper bound stands. */
static void a_load_above_the_answer_decides_if_it_was_bad_more_often_than_good(void **state)
{
    struct client_find_evidence e;

    (void)state;
    add(40, TRIAL_BAD, SEARCH_DOUBLE)->overflows = 1;
    f.search.trials[0].order.duration_ns = 60000000000; /* full length */
    add(20, TRIAL_GOOD, SEARCH_DOUBLE);
    add(19, TRIAL_BAD, SEARCH_CONFIRM)->syn_retransmits = 2;
    add(19, TRIAL_GOOD, SEARCH_CONFIRM);
    add(18, TRIAL_GOOD, SEARCH_CONFIRM);
    f.search.status = SEARCH_FOUND;
    f.search.reason = SEARCH_NO_REASON;
    f.search.confirmed = true;
    f.search.descended_to = 18;
    client_find_bound(&f, &e);
    assert_int_equal(e.n_trials, 1);
    assert_string_equal(client_find_bound_name(&f), "accept-queue");
    add(19, TRIAL_BAD, SEARCH_CONFIRM)->syn_retransmits = 2;
    client_find_bound(&f, &e);
    assert_int_equal(e.n_trials, 2);
    assert_string_equal(client_find_bound_name(&f), "syns-lost");
}

static void add_handshakes(double load, enum trial_class class, uint64_t handshakes,
                           uint64_t resumed)
{
    struct client_find_trial *t = add(load, class, SEARCH_DOUBLE);

    t->handshakes = handshakes;
    t->resumed = resumed;
}

static void handshakes_are_those_of_good_trials_at_the_lower_bound(void **state)
{
    uint64_t full, resumed;

    (void)state;
    f.search.descended_to = 20;
    add_handshakes(10, TRIAL_GOOD, 1000, 1000);
    add_handshakes(20, TRIAL_BAD, 100, 50);
    add_handshakes(20, TRIAL_GOOD, UINT64_MAX, UINT64_MAX);
    assert_false(client_find_handshakes(&f, &full, &resumed));
    add_handshakes(20, TRIAL_GOOD, 7, 3);
    add_handshakes(20, TRIAL_GOOD, 8, 8);
    assert_true(client_find_handshakes(&f, &full, &resumed));
    assert_int_equal(full, 4);
    assert_int_equal(resumed, 11);
    add_handshakes(20, TRIAL_GOOD, 7, 0);
    assert_true(client_find_handshakes(&f, &full, &resumed)); /* as many of each kind */
    assert_int_equal(full, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_limited_a_search_without_bad_trials, start),
        cmocka_unit_test_setup(bad_trials_at_the_smallest_bad_load_decide, start),
        cmocka_unit_test_setup(what_the_server_sustained_since_did_not_limit_it, start),
        cmocka_unit_test_setup(void_trials_decide_if_they_ended_the_search, start),
        cmocka_unit_test_setup(fewer_events_than_the_goal_allows_are_not_why_it_was_missed, start),
        cmocka_unit_test_setup(connections_not_opened_are_not_why_a_goal_was_missed, start),
        cmocka_unit_test_setup(missing_connections_are_not_this_hosts_limit, start),
        cmocka_unit_test_setup(failed_confirmations_decide_if_they_ended_the_search, start),
        cmocka_unit_test_setup(failed_confirmations_decide_if_a_lower_load_was_confirmed, start),
        cmocka_unit_test_setup(a_void_confirmation_after_the_failed_one_decides_nothing, start),
        cmocka_unit_test_setup(a_load_above_the_answer_decides_if_it_was_bad_more_often_than_good,
                               start),
        cmocka_unit_test_setup(first_cause_on_the_way_to_the_server_is_named, start),
        cmocka_unit_test_setup(handshakes_are_those_of_good_trials_at_the_lower_bound, start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
