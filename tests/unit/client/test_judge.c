/* SPDX-License-Identifier: MIT
 * test_judge: doubts, broken laws and diagnosis of made-up results. */
#include "client/judge.h"

#include "client/sweep.h"
#include "protocol/query_init.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define MS         1000000ull

enum { N_QUERIES = 20000, N_CONNECTIONS = 10 };

struct made_up {
    struct client_plan plan;
    struct client_result result;
};

/* A run of ten connections, all of whose queries were answered within a millisecond. */
static int setup(void **state)
{
    struct made_up *m = calloc(1, sizeof *m);
    char error[QUERY_ERROR_BYTES];
    struct client_result *r;
    struct tally_queries *q;

    if (m == NULL ||
        query_init(&m->plan.config.query, QUERY_PING, &(struct query_ask){0}, error) != 0 ||
        hist_init(&m->result.metrics[CLIENT_RESPONSE]) != 0 ||
        hist_init(&m->result.metrics[CLIENT_OWN]) != 0 || losses_init(&m->result.losses) != 0)
        return -1;
    r = &m->result;
    q = &r->tally.queries[TALLY_MEASURED];
    r->connections_requested = r->connections_wanted = r->connections_live = N_CONNECTIONS;
    tally_add(&r->tally.connections.ended[PHASE_RUN][REASON_FINISHED], N_CONNECTIONS);
    tally_add(&q->scheduled, N_QUERIES);
    tally_add(&q->sent, N_QUERIES);
    tally_add(&q->answered, N_QUERIES);
    tally_add(&r->tally.answers.by_code[0], N_QUERIES);
    for (int i = 0; i < N_QUERIES; i++) {
        hist_record(&r->metrics[CLIENT_RESPONSE], MS);
        hist_record(&r->metrics[CLIENT_OWN], MS / 100);
    }
    r->requested_qps = 1000;
    r->scheduled_ns = r->sent_ns = r->unblocked_ns = N_QUERIES * MS;
    r->loaded = true;
    r->host_before.tcp_memory_pressures = r->host_after.tcp_memory_pressures = 3;
    *state = m;
    return 0;
}

static int teardown(void **state)
{
    struct made_up *m = *state;

    hist_free(&m->result.metrics[CLIENT_RESPONSE]);
    hist_free(&m->result.metrics[CLIENT_OWN]);
    losses_free(&m->result.losses);
    query_free(&m->plan.config.query);
    free(m);
    return 0;
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
    tally_add(&r->tally.push.damaged, 1);
    assert_doubts(m, 1u << VERDICT_PUSH_LOST);
    tally_sub(&r->tally.push.damaged, 1);
    tally_add(&r->tally.datagrams.dropped, 1);
    assert_doubts(m, 1u << VERDICT_DATAGRAMS_DROPPED);
    tally_sub(&r->tally.datagrams.dropped, 1);
    tally_add(&r->tally.datagrams.malformed, 1); /* the server's */
    assert_doubts(m, 0);
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
    assert_in_range(of[0].own_ns, MS * 49 / 100, MS * 51 / 100);
    assert_false(verdict_holds(&r->verdict, 0));
    assert_true(of[1].response_ns == HIST_BEYOND);
    assert_true(of[1].own_ns == r->metrics[CLIENT_OWN].max_ns);
    assert_true(verdict_holds(&r->verdict, 1));
}

/* A connection is missing between the end of one and the start of its replacement. */
static void connections_that_follow_one_another_are_not_short(void **state)
{
    struct made_up *m = *state;

    m->plan.config.queries_per_conn = 100;
    m->result.connections_live = 0;
    assert_doubts(m, 0);
    client_diagnose(&m->result, &m->plan, true);
    assert_int_equal(m->result.diagnosis.n_lines, 0);
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

static void answers_and_their_rows_have_to_add_up(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    r->has_rows = true;
    r->rows.written[1] = N_QUERIES - 2;
    r->rows.left_out[1] = 1;
    client_judge(r, &m->plan, 0);
    assert_non_null(r->broken_law);
    r->rows.left_out[1] = 2;
    client_judge(r, &m->plan, 0);
    assert_null(r->broken_law);
}

/* Segments lost in the network are the server's delay, those lost on loopback are not. */
static void lost_segments_count_on_loopback_alone(void **state)
{
    struct made_up *m = *state;
    struct sockaddr_in *target = (struct sockaddr_in *)&m->plan.config.target.ss;

    tally_add(&m->result.tally.connections.retransmits, 7);
    *target = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000201)};
    client_judge(&m->result, &m->plan, 0);
    assert_int_equal(m->result.verdict.lost_segments, 0);
    target->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    client_judge(&m->result, &m->plan, 0);
    assert_int_equal(m->result.verdict.lost_segments, 7);
    /* each delays what its connection sends within 0.2 s: 100 queries/s */
    assert_int_equal(m->result.verdict.n_delayed_by_loss, 7 * (1 + 20));
}

static void missing_connections_are_diagnosed(void **state)
{
    struct made_up *m = *state;
    struct client_result *r = &m->result;

    tally_add(&r->tally.connections.ended[PHASE_CONNECT][REASON_REFUSED], 4);
    client_diagnose(r, &m->plan, true);
    assert_int_equal(r->diagnosis.n_lines, 0); /* none is missing */
    r->connections_live = N_CONNECTIONS - 4;
    client_diagnose(r, &m->plan, true);
    assert_int_equal(r->diagnosis.n_lines, 1);
    assert_int_equal(r->diagnosis.lines[0].connections, 4);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_that_did_what_was_requested_is_beyond_doubt),
        TEST(each_shortfall_of_the_result_is_a_doubt),
        TEST(own_delay_is_judged_at_the_rank_of_the_response),
        TEST(connections_that_follow_one_another_are_not_short),
        TEST(queries_in_flight_at_the_end_count_unless_the_run_was_interrupted),
        TEST(answers_and_their_rows_have_to_add_up),
        TEST(lost_segments_count_on_loopback_alone),
        TEST(missing_connections_are_diagnosed),
        TEST(queries_that_waited_for_the_servers_ids_do_not_make_this_host_slow),
        TEST(a_search_is_judged_by_its_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
