/* SPDX-License-Identifier: MIT
 * test_judge: the doubts about made-up results; --wrap=verdict_judge: all of them. */
#include "client/judge.h"

#include "base/units.h"
#include "client/sweep.h"
#include "judge_steps.h"

#include <errno.h>
#include <string.h>

unsigned __real_verdict_judge(const struct verdict_input *in);
unsigned __wrap_verdict_judge(const struct verdict_input *in);

/* The reasons for doubt in any test of this file. */
static unsigned raised;

unsigned __wrap_verdict_judge(const struct verdict_input *in)
{
    const unsigned doubts = __real_verdict_judge(in);

    raised |= doubts;
    return doubts;
}

static void assert_doubts(struct made_up *m, unsigned doubts)
{
    client_judge(&m->result, &m->plan, 0);
    assert_null(m->result.broken_law);
    assert_int_equal(m->result.doubts, doubts);
}

static void a_run_that_did_what_was_requested_is_beyond_doubt(void **state)
{
    struct made_up *m = *state;

    assert_doubts(m, 0);
    assert_int_equal(m->result.verdict.n_latencies, N_QUERIES);
    assert_true(verdict_holds(&m->result.verdict, 0));
    assert_int_equal(m->result.verdict.percentiles[LATENCY_N_PERCENTILES].response_ns, MS);
}

static void each_shortfall_of_the_result_is_a_doubt(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    r->connections_live = N_CONNECTIONS - 1;
    assert_doubts(m, 1u << VERDICT_CONNECTIONS_SHORT);
    r->connections_live = N_CONNECTIONS;
    r->start.missed = true;
    assert_doubts(m, 1u << VERDICT_START_MISSED);
    r->start.missed = false;
    r->host_after.tcp_memory_pressures++;
    assert_doubts(m, 1u << VERDICT_MEMORY_PRESSURE);
    r->host_after.tcp_memory_pressures = HOST_COUNTERS_UNKNOWN;
    assert_doubts(m, 0);
    tally_add(&r->tally.datagrams.malformed, 1); /* the server's */
    assert_doubts(m, 0);
}

static void each_count_of_what_went_wrong_is_a_doubt(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    const struct {
        tally_count *count;
        enum verdict_reason doubt;
    } counts[] = {
        {&r->tally.push.damaged, VERDICT_PUSH_LOST},
        {&r->tally.push.duplicate, VERDICT_PUSH_LOST},
        {&r->tally.push.unfinished, VERDICT_PUSH_LOST},
        {&r->tally.push.negative, VERDICT_CLOCKS_DISAGREE},
        {&r->tally.datagrams.dropped, VERDICT_DATAGRAMS_DROPPED},
    };

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        tally_add(counts[i].count, 1);
        assert_doubts(m, 1u << counts[i].doubt);
        tally_sub(counts[i].count, 1);
    }
    tally_add(&r->tally.push.damaged, 2);
    tally_add(&r->tally.push.duplicate, 3);
    assert_doubts(m, 1u << VERDICT_PUSH_LOST);
    assert_int_equal(r->verdict.messages_missing, 2 + 3);
    tally_sub(&r->tally.push.damaged, 2);
    tally_sub(&r->tally.push.duplicate, 3);
    for (int type = 0; type < 2; type++) {
        r->rows.dropped[type] = 1;
        assert_doubts(m, 1u << VERDICT_OUTPUT_LOST);
        r->rows.dropped[type] = 0;
    }
    r->rows.dropped[0] = 2;
    r->rows.dropped[1] = 3;
    assert_doubts(m, 1u << VERDICT_OUTPUT_LOST);
    assert_int_equal(r->verdict.rows_dropped, 2 + 3);
    r->rows.dropped[0] = r->rows.dropped[1] = 0;
    r->rows.error = EPIPE;
    assert_doubts(m, 1u << VERDICT_OUTPUT_LOST);
    r->rows.error = 0;
    r->rows.timed_out = true;
    assert_doubts(m, 1u << VERDICT_OUTPUT_LOST);
}

/* A message that was lost, and a query for which no connection could be opened, have no time. */
static void what_is_missing_is_a_doubt(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    struct tally_queries *q = &r->tally.queries[TALLY_MEASURED];

    r->metrics[CLIENT_RESPONSE].beyond = 1;
    tally_add(&r->tally.push.lost, 1);
    tally_add(&r->tally.push.missed, 1);
    assert_doubts(m, 1u << VERDICT_PUSH_LOST);
    assert_int_equal(r->verdict.messages_missing, 1);
    assert_true(r->verdict.percentiles[LATENCY_N_PERCENTILES].response_ns == HIST_BEYOND);
    tally_sub(&r->tally.push.lost, 1);
    tally_sub(&r->tally.push.missed, 1);
    tally_add(&q->scheduled, 1);
    tally_add(&q->unsent, 1);
    assert_doubts(m, 1u << VERDICT_UNSENT);
    tally_add(&q->unconnected, 1);
    tally_add(&r->tally.errors[PHASE_CONNECT][REASON_REFUSED], 1); /* the server's */
    assert_doubts(m, 0);
}

static void what_fails_after_the_load_is_not_missed_if_connections_are_replaced(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    r->connections_live_loaded = r->connections_live;
    r->connections_live--;
    assert_doubts(m, 1u << VERDICT_CONNECTIONS_SHORT);
    m->plan.config.reconnect = true;
    assert_doubts(m, 0);
    r->connections_live_loaded--;
    assert_doubts(m, 1u << VERDICT_CONNECTIONS_SHORT);
    m->plan.config.reconnect = false;
}

static void growth_is_a_doubt_if_it_was_measured(void **state)
{
    struct made_up *m = *state;

    m->result.in_flight_early = 100;
    m->result.in_flight_late = 1000;
    assert_doubts(m, 0);
    m->result.has_growth = true;
    assert_doubts(m, 1u << VERDICT_NON_STATIONARY);
    assert_int_equal(m->result.verdict.in_flight_early, 100);
    assert_int_equal(m->result.verdict.in_flight_late, 1000);
    m->result.in_flight_early = 1000;
    assert_doubts(m, 0);
}

static void a_run_that_was_to_measure_and_measured_nothing_is_doubted(void **state)
{
    static struct client_result r;
    struct made_up *m = *state;

    r.metrics[CLIENT_RESPONSE] = m->result.metrics[CLIENT_RESPONSE];
    r.metrics[CLIENT_OWN] = m->result.metrics[CLIENT_OWN];
    hist_reset(&r.metrics[CLIENT_RESPONSE]);
    hist_reset(&r.metrics[CLIENT_OWN]);
    client_judge(&r, &m->plan, 0);
    assert_int_equal(r.doubts, 0);
    assert_false(r.verdict.has_latency);
    r.requested_qps = 1;
    client_judge(&r, &m->plan, 0);
    assert_int_equal(r.doubts, 1u << VERDICT_NOTHING_MEASURED);
    r.requested_qps = 0; /* it was paused from the start of the measurement on */
    m->plan.rate_qps = 1;
    client_judge(&r, &m->plan, 0);
    assert_int_equal(r.doubts, 1u << VERDICT_NOTHING_MEASURED);
    m->plan.rate_qps = 0;
    m->plan.config.listens = true;
    client_judge(&r, &m->plan, 0);
    assert_int_equal(r.doubts, 1u << VERDICT_NOTHING_MEASURED);
    r.metrics[CLIENT_RESPONSE].beyond = 1; /* a message that was missed */
    client_judge(&r, &m->plan, 0);
    assert_int_equal(r.doubts, 0);
    assert_true(r.verdict.has_latency);
    hist_record(&r.metrics[CLIENT_RESPONSE], MS); /* another one that was not */
    client_judge(&r, &m->plan, 0);
    assert_int_equal(r.doubts, 0);
}

static void the_percentile_required_has_to_hold(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    hist_free(&r->metrics[CLIENT_OWN]);
    assert_int_equal(hist_init(&r->metrics[CLIENT_OWN]), 0);
    for (int i = 0; i < N_QUERIES; i++)
        hist_record(&r->metrics[CLIENT_OWN], i < N_QUERIES * 8 / 10 ? MS / 100 : MS * 3 / 4);
    client_judge(r, &m->plan, 0);
    assert_int_equal(r->doubts, 0);
    client_judge(r, &m->plan, 1);
    assert_int_equal(r->doubts, 1u << VERDICT_HOST_NOISE);
}

static void stolen_cpu_time_is_that_of_the_load(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    r->host_after.cpu_ticks = 1000;
    assert_doubts(m, 0);
    assert_true(r->verdict.has_steal && r->verdict.steal_percent == 0);
    r->host_after.steal_ticks = 50;
    assert_doubts(m, 0);
    assert_true(r->verdict.has_steal && r->verdict.steal_percent == 5);
    r->loaded = false;
    assert_doubts(m, 0);
    assert_false(r->verdict.has_steal);
}

/* Where no connection is ever replaced, one without a source port is missing from the start. */
static void source_ports_limit_replacement_connections_alone(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    tally_add(&r->tally.connections.ended[PHASE_CONNECT][REASON_PORTS], 1);
    r->connections_requested++;
    assert_doubts(m, 0);
    m->plan.config.queries_per_conn = 5;
    assert_doubts(m, 1u << VERDICT_CHURN_PLATEAU);
}

/* With a third as many unanswered as answered, the median is the answers' 66.7th percentile. */
static void own_delay_is_judged_at_the_rank_of_the_response(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    struct verdict_percentile *of = r->verdict.percentiles;

    hist_free(&r->metrics[CLIENT_OWN]);
    assert_int_equal(hist_init(&r->metrics[CLIENT_OWN]), 0);
    for (int i = 0; i < N_QUERIES; i++)
        hist_record(&r->metrics[CLIENT_OWN], i < N_QUERIES * 6 / 10 ? MS / 100 : MS / 2);
    client_judge(r, &m->plan, 0);
    assert_true(verdict_holds(&r->verdict, 0));
    r->metrics[CLIENT_RESPONSE].beyond = N_QUERIES / 3;
    client_judge(r, &m->plan, 0);
    assert_int_equal(r->verdict.n_latencies, N_QUERIES + N_QUERIES / 3);
    assert_in_range(of[0].own_ns, MS * 49 / 100, MS * 51 / 100);
    assert_false(verdict_holds(&r->verdict, 0));
    assert_true(of[1].response_ns == HIST_BEYOND);
    assert_true(of[1].own_ns == r->metrics[CLIENT_OWN].max_ns);
    assert_true(verdict_holds(&r->verdict, 1));
    assert_true(of[LATENCY_N_PERCENTILES].response_ns == HIST_BEYOND);
    assert_true(of[LATENCY_N_PERCENTILES].own_ns == r->metrics[CLIENT_OWN].max_ns);
}

/* A connection is missing between the end of one and the start of its replacement. */
static void connections_that_follow_one_another_are_not_short(void **state)
{
    struct made_up *m = *state;

    m->plan.config.queries_per_conn = 1;
    m->result.connections_live = 0;
    assert_doubts(m, 0);
    m->plan.config.queries_per_conn = 0;
    m->plan.config.on_demand = true;
    client_judge(&m->result, &m->plan, 0); /* no connection was made up for the laws on demand */
    assert_int_equal(m->result.doubts, 0);
}

/* Connections are replaced after some queries: without any, none was. */
static void connections_that_never_had_a_query_are_short(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    m->plan.config.queries_per_conn = 1;
    m->plan.config.reconnect = true;
    r->connections_live = 3;
    memset(r->tally.queries, 0, sizeof r->tally.queries);
    client_judge(r, &m->plan, 0);
    assert_int_equal(r->verdict.connections_live, 3);
    assert_true(r->doubts & (1u << VERDICT_CONNECTIONS_SHORT));
    tally_add(&r->tally.queries[TALLY_WARMUP].scheduled, 1);
    client_judge(r, &m->plan, 0);
    assert_false(r->doubts & (1u << VERDICT_CONNECTIONS_SHORT));
}

/* One class replaces its connections; those of the other are there to stay. */
static void each_class_may_lack_only_connections_that_it_replaces(void **state)
{
    static const struct client_class classes[] = {{.n_connections = 6, .queries_per_conn = 1},
                                                  {.n_connections = N_CONNECTIONS - 6}};
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    m->plan.config.classes = classes;
    m->plan.config.n_classes = 2;
    m->plan.config.queries_per_conn = 1;
    m->plan.config.reconnect = true;
    tally_add(&r->class_tallies[0].queries[TALLY_MEASURED].scheduled, 1);
    r->class_live[1] = N_CONNECTIONS - 6;
    client_judge(r, &m->plan, 0);
    assert_false(r->doubts & (1u << VERDICT_CONNECTIONS_SHORT));
    r->class_live[1]--; /* lost after the load, ... */
    r->class_live_loaded[1] = N_CONNECTIONS - 6;
    client_judge(r, &m->plan, 0);
    assert_false(r->doubts & (1u << VERDICT_CONNECTIONS_SHORT));
    r->class_live_loaded[1]--; /* ... or under load */
    client_judge(r, &m->plan, 0);
    assert_true(r->doubts & (1u << VERDICT_CONNECTIONS_SHORT));
    assert_int_equal(r->verdict.connections_live, N_CONNECTIONS - 1);
}

static void queries_in_flight_at_the_end_count_unless_the_run_was_interrupted(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    tally_add(&r->tally.queries[TALLY_MEASURED].scheduled, 1);
    tally_add(&r->tally.queries[TALLY_MEASURED].sent, 1);
    tally_add(&r->tally.queries[TALLY_MEASURED].cancelled, 1);
    r->metrics[CLIENT_RESPONSE].beyond = 1;
    assert_doubts(m, 1u << VERDICT_CUT_SHORT);
    r->interrupted = true;
    assert_doubts(m, 0);
}

/* By default, the run of a listener lasts until it is interrupted; perhaps no message was due until
 * then. */
static void only_an_interruption_before_the_measurement_explains_that_nothing_was_due(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    r->interrupted = true;
    for (int listens = 0; listens <= 1; listens++) {
        m->plan.config.listens = listens;
        for (r->scheduled_ns = 0; r->scheduled_ns <= UNITS_NS_PER_S;
             r->scheduled_ns += UNITS_NS_PER_S) {
            client_judge(r, &m->plan, 0);
            assert_int_equal(r->verdict.interrupted, !listens || r->scheduled_ns == 0);
            assert_int_equal(r->verdict.of_messages, listens);
        }
    }
}

static void a_broken_law_is_named(void **state)
{
    struct made_up *m = *state;

    m->result.connections_requested++;
    client_judge(&m->result, &m->plan, 0);
    assert_non_null(m->result.broken_law);
}

/* Segments lost in the network are the server's delay, those lost within this host are not. */
static void lost_segments_count_towards_this_host_alone(void **state)
{
    struct made_up *m = *state;

    tally_add(&m->result.tally.connections.retransmits, 7);
    client_judge(&m->result, &m->plan, 0);
    assert_int_equal(m->result.verdict.lost_segments, 0);
    m->plan.config.target_is_here = true;
    client_judge(&m->result, &m->plan, 0);
    assert_int_equal(m->result.verdict.lost_segments, 7);
    /* each delays what its connection sends within 0.2 s: 100 queries/s */
    assert_int_equal(m->result.verdict.n_delayed_by_loss, 7 * (1 + 20));
    tally_add(&m->result.tally.connections.retransmits, 1000 * m->result.verdict.n_latencies);
    client_judge(&m->result, &m->plan, 0);
    assert_int_equal(m->result.verdict.n_delayed_by_loss, m->result.verdict.n_latencies);
}

/* How many queries a connection sends is not known. */
static void a_lost_segment_delays_a_query_if_no_connection_is_left(void **state)
{
    struct made_up *m = *state;

    m->plan.config.target_is_here = true;
    tally_add(&m->result.tally.connections.retransmits, 7);
    m->result.connections_live = 0;
    client_judge(&m->result, &m->plan, 0);
    assert_int_equal(m->result.verdict.n_delayed_by_loss, 7);
    m->result.connections_live = N_CONNECTIONS;
    m->result.scheduled_ns = 0;
    client_judge(&m->result, &m->plan, 0);
    assert_int_equal(m->result.verdict.n_delayed_by_loss, 7);
}

static void queries_that_waited_for_the_servers_ids_do_not_make_this_host_slow(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    r->sent_ns *= 2;
    assert_doubts(m, 0);
    r->unblocked_ns = r->sent_ns;
    assert_doubts(m, 1u << VERDICT_GENERATOR_LIMITED);
}

static void queries_that_waited_for_a_connection_on_demand_do_not_make_this_host_slow(void **state)
{
    struct made_up *m = *state;

    m->result.sent_ns = m->result.unblocked_ns *= 2;
    m->plan.config.on_demand = true;
    m->result.longest_hold_ns = 7;
    client_judge(&m->result, &m->plan, 0);
    assert_int_equal(m->result.doubts, 0);
    assert_int_equal(m->result.verdict.longest_hold_ns, 7);
}

/* Its overloads are on purpose. */
static void a_search_is_judged_by_its_answer(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;
    struct client_find *find = calloc(1, sizeof *find);
    const struct client_sweep sweep = {.n = 1, .points = {{.find = find}}};

    assert_non_null(find);
    r->sweep = &sweep;
    r->connections_live = N_CONNECTIONS - 1;
    r->sent_ns = r->unblocked_ns *= 2;
    r->has_growth = true;
    r->in_flight_late = 1000;
    tally_add(&r->tally.datagrams.dropped, 1);
    find->search.status = SEARCH_FOUND;
    assert_doubts(m, 0);
    assert_false(r->verdict.has_latency);
    find->search.status = SEARCH_AT_LEAST;
    assert_doubts(m, 0);
    find->search.status = SEARCH_LESS_THAN;
    assert_doubts(m, 1u << VERDICT_INCONCLUSIVE);
    find->search.status = SEARCH_INCONCLUSIVE;
    assert_doubts(m, 1u << VERDICT_INCONCLUSIVE);
    r->sweep = NULL;
    free(find);
}

/* The last test: a reason that verdict_judge() never gives, or whose figure client_judge() does not
 * fill in, is in no result. */
static void each_reason_for_doubt_was_given_in_a_test_above(void **state)
{
    (void)state;
    for (int i = 0; i < VERDICT_N_REASONS; i++)
        if ((raised & 1u << i) == 0)
            fail_msg("no test of client_judge() gives the reason \"%s\"",
                     verdict_name((enum verdict_reason)i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_that_did_what_was_requested_is_beyond_doubt),
        TEST(each_shortfall_of_the_result_is_a_doubt),
        TEST(each_count_of_what_went_wrong_is_a_doubt),
        TEST(what_is_missing_is_a_doubt),
        TEST(what_fails_after_the_load_is_not_missed_if_connections_are_replaced),
        TEST(growth_is_a_doubt_if_it_was_measured),
        TEST(a_run_that_was_to_measure_and_measured_nothing_is_doubted),
        TEST(the_percentile_required_has_to_hold),
        TEST(stolen_cpu_time_is_that_of_the_load),
        TEST(source_ports_limit_replacement_connections_alone),
        TEST(own_delay_is_judged_at_the_rank_of_the_response),
        TEST(connections_that_follow_one_another_are_not_short),
        TEST(connections_that_never_had_a_query_are_short),
        TEST(each_class_may_lack_only_connections_that_it_replaces),
        TEST(queries_in_flight_at_the_end_count_unless_the_run_was_interrupted),
        TEST(a_broken_law_is_named),
        TEST(only_an_interruption_before_the_measurement_explains_that_nothing_was_due),
        TEST(lost_segments_count_towards_this_host_alone),
        TEST(a_lost_segment_delays_a_query_if_no_connection_is_left),
        TEST(queries_that_waited_for_the_servers_ids_do_not_make_this_host_slow),
        TEST(queries_that_waited_for_a_connection_on_demand_do_not_make_this_host_slow),
        TEST(a_search_is_judged_by_its_answer),
        TEST(each_reason_for_doubt_was_given_in_a_test_above),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
