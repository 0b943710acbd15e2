/* SPDX-License-Identifier: MIT
 * test_tally: the conservation laws, each with a count that violates it. */
#include "measure/tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* 100 queries; the unsent, timed out, failed and cancelled ones are unanswered. */
enum { ASKED = 20, ANSWERED = 50, UNANSWERED = 50 };

/* Counts that satisfy every law. */
static void make_lawful(struct tally *t)
{
    memset(t, 0, sizeof *t);
    for (int class = 0; class < TALLY_N_CLASSES; class ++) {
        struct tally_queries *q = &t->queries[class];

        tally_add(&q->scheduled, 100);
        tally_add(&q->sent, 90);
        tally_add(&q->unsent, 10);
        tally_add(&q->answered, ANSWERED);
        tally_add(&q->timeout, 25);
        tally_add(&q->error, 10);
        tally_add(&q->cancelled, 5);
    }
    tally_add(&t->answers.by_code[0], 9);
    tally_add(&t->answers.by_code[1 + 3], ANSWERED - 9);
    tally_add(&t->answers.truncated, ANSWERED);
    tally_add(&t->errors[PHASE_RECEIVE][REASON_PEER], 7);
    tally_add(&t->errors[PHASE_SEND][REASON_RESET], 3);
    tally_add(&t->connections.ended[PHASE_RUN][REASON_FINISHED], 15);
    tally_add(&t->connections.ended[PHASE_CONNECT][REASON_REFUSED], 5);
}

static void lawful_counts_break_no_law(void **state)
{
    struct tally t;

    (void)state;
    make_lawful(&t);
    assert_null(tally_check(&t, ASKED, ANSWERED, UNANSWERED));
    assert_int_equal(tally_connections_ended(&t), ASKED);
    assert_int_equal(tally_connections_failed(&t), 5);
    assert_int_equal(tally_connections_by_reason(&t, REASON_REFUSED), 5);
}

static void replacements_have_outcomes_of_their_own(void **state)
{
    struct tally t;

    (void)state;
    make_lawful(&t);
    tally_add(&t.connections.reopened, 3);
    assert_non_null(tally_check(&t, ASKED, ANSWERED, UNANSWERED));
    tally_add(&t.connections.ended[PHASE_RECEIVE][REASON_PEER], 1);
    tally_add(&t.connections.ended[PHASE_RUN][REASON_CANCELLED], 2);
    assert_null(tally_check(&t, ASKED, ANSWERED, UNANSWERED));
    assert_int_equal(tally_connections_failed(&t), 6);
}

static void connections_closed_on_purpose_have_not_failed(void **state)
{
    struct tally t = {0};
    uint64_t n_failed = 0;

    (void)state;
    for (int r = 0; r < OUTCOME_N_REASONS; r++) {
        tally_add(&t.connections.ended[PHASE_RUN][r], 1);
        n_failed += outcome_remedy((enum outcome_reason)r) != NULL;
        assert_int_equal(tally_connections_failed(&t), n_failed);
    }
    assert_int_equal(tally_connections_ended(&t), OUTCOME_N_REASONS);
    assert_int_equal(n_failed, OUTCOME_N_REASONS - 4); /* finished, cancelled, idle, keepalive */
}

static void assert_named(const struct tally *t, uint64_t asked, uint64_t histogram,
                         const char *word)
{
    const char *law = tally_check(t, asked, histogram, UNANSWERED);

    assert_non_null(law);
    if (strstr(law, word) == NULL)
        fail_msg("'%s' is not in '%s'", word, law);
}

static void each_broken_law_is_named_in_every_class(void **state)
{
    struct tally t;

    (void)state;
    for (int class = 0; class < TALLY_N_CLASSES; class ++) {
        make_lawful(&t);
        tally_add(&t.queries[class].scheduled, 1);
        assert_named(&t, ASKED, ANSWERED, "scheduled");
        make_lawful(&t);
        tally_add(&t.queries[class].timeout, 1);
        assert_named(&t, ASKED, ANSWERED, "sent");
        make_lawful(&t);
        tally_sub(&t.queries[class].cancelled, 1);
        assert_named(&t, ASKED, ANSWERED, "sent");
    }
}

static void laws_between_parts_are_checked(void **state)
{
    struct tally t;

    (void)state;
    make_lawful(&t);
    assert_named(&t, ASKED + 1, ANSWERED, "connections");
    assert_named(&t, ASKED, ANSWERED - 1, "histogram");
    tally_add(&t.push.measured, 3);
    assert_named(&t, ASKED, ANSWERED, "histogram");
    assert_null(tally_check(&t, ASKED, ANSWERED + 3, UNANSWERED));
    tally_sub(&t.push.measured, 3);
    assert_non_null(strstr(tally_check(&t, ASKED, ANSWERED, UNANSWERED - 1), "beyond"));
    tally_add(&t.push.missed, 2);
    assert_named(&t, ASKED, ANSWERED, "beyond");
    assert_null(tally_check(&t, ASKED, ANSWERED, UNANSWERED + 2));
    tally_sub(&t.push.missed, 2);
    tally_add(&t.errors[PHASE_RECEIVE][REASON_PEER], 1);
    assert_named(&t, ASKED, ANSWERED, "failed");
    make_lawful(&t);
    tally_add(&t.answers.by_code[QUERY_N_CODES - 1], 1);
    assert_named(&t, ASKED, ANSWERED, "response code");
}

/* A law of connections on demand, broken by one. */
static void assert_demand(const struct tally *t, const char *word)
{
    const char *law = tally_check_demand(t, false);

    assert_non_null(law);
    if (strstr(law, word) == NULL)
        fail_msg("'%s' is not in '%s'", word, law);
}

/* 4 connections for the 90 queries of each class. */
static void make_demand_lawful(struct tally *t)
{
    make_lawful(t);
    tally_add(&t->connections.attempted, 5);
    tally_add(&t->demand.requested, 6);
    tally_add(&t->demand.withdrawn, 1);
    tally_add(&t->demand.opened, 4);
    tally_add(&t->demand.reused, 266);
    tally_add(&t->demand.waited, 4);
    tally_add(&t->demand.carried, 270);
    tally_add(&t->demand.carried_by[1], 1);
    tally_add(&t->demand.carried_by[8], 3);
}

static void laws_of_connections_on_demand_are_checked(void **state)
{
    struct tally t;

    (void)state;
    make_demand_lawful(&t);
    assert_null(tally_check_demand(&t, false));
    tally_sub(&t.demand.withdrawn, 1);
    assert_demand(&t, "withdrawn");
    make_demand_lawful(&t);
    tally_add(&t.demand.opened, 1);
    assert_demand(&t, "opened");
    make_demand_lawful(&t);
    tally_add(&t.demand.reused, 1);
    assert_demand(&t, "on an open connection");
    make_demand_lawful(&t);
    tally_add(&t.queries[TALLY_WARMUP].sent, 1);
    assert_demand(&t, "on an open connection");
    make_demand_lawful(&t);
    tally_sub(&t.demand.carried, 1);
    assert_demand(&t, "carried");
}

static void each_answer_has_a_keepalive_timeout_or_none(void **state)
{
    struct tally t;

    (void)state;
    make_demand_lawful(&t);
    tally_add(&t.demand.keepalives, 3 * ANSWERED - 3);
    tally_add(&t.demand.no_keepalive, 2);
    assert_non_null(strstr(tally_check_demand(&t, true), "keepalive"));
    assert_null(tally_check_demand(&t, false));
    tally_add(&t.demand.bad_keepalive, 1);
    assert_null(tally_check_demand(&t, true));
}

static void unconnected_queries_are_among_the_failures(void **state)
{
    struct tally t;

    (void)state;
    make_lawful(&t);
    tally_add(&t.queries[TALLY_MEASURED].unconnected, 2);
    assert_named(&t, ASKED, ANSWERED, "unconnected");
    tally_add(&t.errors[PHASE_CONNECT][REASON_REFUSED], 2);
    assert_null(tally_check(&t, ASKED, ANSWERED, UNANSWERED));
}

static void classes_of_connections_adjoin(void **state)
{
    (void)state;
    assert_int_equal(tally_carried_first(0), 0);
    assert_int_equal(tally_carried_last(0), 0);
    for (unsigned class = 0; class < TALLY_CARRIED_CLASSES; class ++) {
        const uint64_t first = tally_carried_first(class), last = tally_carried_last(class);

        if (class > 0)
            assert_int_equal(first, tally_carried_last(class - 1) + 1);
        assert_int_equal(tally_carried_class(first), class);
        assert_int_equal(tally_carried_class(last), class);
    }
    assert_int_equal(tally_carried_last(TALLY_CARRIED_CLASSES - 1), 1ull << 63);
}

/* Counts that were read before those that they contain. */
static void settled_counts_fit_together(void **state)
{
    static const struct {
        uint64_t scheduled, sent, expected_scheduled, expected_sent, in_flight;
    } cases[] = {
        {100, 90, 100, 90, 10}, {101, 85, 101, 85, 5}, /* one is due, and not yet sent */
        {100, 80, 100, 80, 0},  {100, 77, 100, 80, 0}, {88, 80, 90, 80, 0}, {0, 0, 90, 80, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tally_queries q = {.answered = 60, .timeout = 11, .error = 7, .cancelled = 2};

        tally_add(&q.scheduled, cases[i].scheduled);
        tally_add(&q.sent, cases[i].sent);
        tally_add(&q.unsent, 10);
        assert_int_equal(tally_settle_queries(&q), cases[i].in_flight);
        assert_int_equal(tally_get(&q.scheduled), cases[i].expected_scheduled);
        assert_int_equal(tally_get(&q.sent), cases[i].expected_sent);
    }
}

static void merging_adds_every_count(void **state)
{
    struct tally a, b;
    const tally_count *merged = (const tally_count *)&a, *once = (const tally_count *)&b;

    (void)state;
    make_lawful(&a);
    make_lawful(&b);
    tally_add(&b.late, 1);
    tally_add(&b.bytes_received, UINT32_MAX);
    memcpy(&a, &b, sizeof a);
    tally_merge(&a, &b);
    for (size_t i = 0; i < sizeof a / sizeof *merged; i++)
        assert_int_equal(tally_get(&merged[i]), 2 * tally_get(&once[i]));
    assert_int_equal(tally_get(&a.bytes_received), 2ull * UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lawful_counts_break_no_law),
        cmocka_unit_test(replacements_have_outcomes_of_their_own),
        cmocka_unit_test(connections_closed_on_purpose_have_not_failed),
        cmocka_unit_test(each_broken_law_is_named_in_every_class),
        cmocka_unit_test(laws_between_parts_are_checked),
        cmocka_unit_test(laws_of_connections_on_demand_are_checked),
        cmocka_unit_test(each_answer_has_a_keepalive_timeout_or_none),
        cmocka_unit_test(unconnected_queries_are_among_the_failures),
        cmocka_unit_test(classes_of_connections_adjoin),
        cmocka_unit_test(settled_counts_fit_together),
        cmocka_unit_test(merging_adds_every_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
