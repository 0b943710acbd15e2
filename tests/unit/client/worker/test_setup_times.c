/* SPDX-License-Identifier: MIT
 * test_setup_times: the times of connections that are opened on a schedule, and when they are due.
 */
#include "client/worker/setup_times.h"

#include "client/worker/connect.h"
#include "client/worker/tls.h"
#include "worker_steps.h"

#include <math.h>
#include <stdlib.h>

enum { N_GAPS = 20000 };

static void start(void)
{
    start_worker(0, 1, 2);
    config.prove = true;
    assert_int_equal(client_setup_times_init(&figures, 2), 0);
    for (int i = 0; i < 2; i++)
        conns[i].connect_start_ns = START + 3 * MS;
}

static const struct hist *times(enum client_metric metric)
{
    return &figures.metrics[metric];
}

static void assert_times(enum client_metric metric, uint64_t n, uint64_t max_ns, uint64_t n_beyond)
{
    assert_int_equal(times(metric)->count, n);
    assert_int_equal(times(metric)->max_ns, max_ns);
    assert_int_equal(times(metric)->beyond, n_beyond);
}

static void each_step_is_timed_from_when_it_was_due(void **state)
{
    (void)state;
    start();
    client_setup_times_opened(&conns[0], START);
    client_setup_times_connected(&conns[0], START + 5 * MS);
    assert_int_equal(client_setup_times_open_lag_ns(&conns[0]), 3 * MS);
    client_setup_times_answered(&conns[0]);
    client_setup_times_ended(&conns[0]);
    assert_times(CLIENT_OPEN_LAG, 1, 3 * MS, 0);
    assert_times(CLIENT_DUE_CONNECTED, 1, 5 * MS, 0);
    assert_int_equal(times(CLIENT_DUE_ANSWERED)->count, 1);
    assert_int_equal(times(CLIENT_DUE_ANSWERED)->max_ns,
                     times(CLIENT_OPEN_ANSWERED)->max_ns + 3 * MS);
    assert_times(CLIENT_DUE_SECURED, 0, 0, 0); /* no TLS */
}

static void what_a_connection_does_not_reach_is_later_than_all(void **state)
{
    (void)state;
    start();
    client_setup_times_opened(&conns[0], START);
    client_setup_times_ended(&conns[0]);
    client_setup_times_ended(&conns[0]); /* counted once */
    client_setup_times_opened(&conns[1], START);
    client_setup_times_connected(&conns[1], START + 4 * MS);
    client_setup_times_ended(&conns[1]);
    assert_times(CLIENT_DUE_CONNECTED, 1, 4 * MS, 1);
    assert_times(CLIENT_DUE_ANSWERED, 0, 0, 2);
    client_setup_times_missed(&transport);
    assert_times(CLIENT_OPEN_LAG, 2, 3 * MS, 1);
    assert_times(CLIENT_DUE_CONNECTED, 1, 4 * MS, 2);
}

static void a_handshake_is_a_step_of_its_own(void **state)
{
    static struct client_tls tls;

    (void)state;
    start();
    transport.tls = &tls;
    client_setup_times_opened(&conns[0], START);
    client_setup_times_connected(&conns[0], START + 4 * MS);
    client_setup_times_secured(&conns[0], START + 6 * MS);
    client_setup_times_ended(&conns[0]);
    client_setup_times_opened(&conns[1], START);
    client_setup_times_connected(&conns[1], START + 4 * MS);
    client_setup_times_ended(&conns[1]);
    transport.tls = NULL;
    assert_times(CLIENT_DUE_CONNECTED, 2, 4 * MS, 0);
    assert_times(CLIENT_DUE_SECURED, 1, 6 * MS, 1);
    assert_times(CLIENT_DUE_ANSWERED, 0, 0, 2);
}

/* Without --prove, a connection needs no answer, unless it is there for one. */
static void a_connection_for_a_query_is_to_be_answered(void **state)
{
    (void)state;
    start();
    config.prove = false;
    client_setup_times_opened(&conns[0], START);
    client_setup_times_ended(&conns[0]);
    assert_times(CLIENT_DUE_ANSWERED, 0, 0, 0);
    config.conn_per_query = true;
    client_setup_times_opened(&conns[1], START);
    client_setup_times_ended(&conns[1]);
    assert_times(CLIENT_DUE_ANSWERED, 0, 0, 1);
}

static void one_that_is_not_measured_leaves_no_trace(void **state)
{
    (void)state;
    start();
    client_setup_times_opened(&conns[0], 0);
    client_setup_times_connected(&conns[0], START);
    client_setup_times_answered(&conns[0]);
    client_setup_times_ended(&conns[0]);
    for (int m = CLIENT_OPEN_LAG; m < CLIENT_N_QUERY_METRICS; m++)
        assert_times((enum client_metric)m, 0, 0, 0);
}

/* --- the schedule --- */

static int by_size(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;

    return one < other ? -1 : one > other;
}

/* The statistic of Anderson and Darling (A Test of Goodness of Fit, 1954) of gaps against the
 * exponential distribution with a known mean.  Above 3.857 they are not from it, at the 1 % level
 * (D'Agostino and Stephens, Goodness-of-Fit Techniques, 1986, table 4.2, case 0). */
#define CRITICAL 3.857

static double anderson_darling(double *gaps, size_t n, double mean)
{
    double sum = 0;

    qsort(gaps, n, sizeof *gaps, by_size);
    for (size_t i = 0; i < n; i++) {
        const double low = -expm1(-gaps[i] / mean), high = exp(-gaps[n - 1 - i] / mean);

        sum += (2.0 * (double)i + 1) * (log(low) + log(high));
    }
    return -(double)n - sum / (double)n;
}

/* The arrivals of all of n workers in the order of time, at 1,000 connections per second. */
static void arrivals_of(int arrival, uint32_t n_workers, uint64_t times_ns[N_GAPS])
{
    for (uint32_t worker = 0; worker < n_workers; worker++) {
        struct client_connect cc = {.transport = &transport};
        struct pacer_segment rate;
        struct pacer pacer;

        start_worker(worker, n_workers, 4);
        config.connect_arrival = arrival;
        config.seed = 42;
        client_connect_pace(&cc, &pacer, &rate, 1000, START);
        for (uint32_t i = worker; i < N_GAPS; i += n_workers) {
            times_ns[i] = pacer.next_ns;
            client_connect_next(&cc, &pacer);
        }
        stop_worker(NULL);
    }
}

static double statistic_of(int arrival)
{
    static uint64_t times_ns[N_GAPS];
    static double gaps[N_GAPS];
    uint64_t previous_ns = START;

    arrivals_of(arrival, 1, times_ns);
    for (int i = 0; i < N_GAPS; i++) {
        gaps[i] = (double)(times_ns[i] - previous_ns) + 0.5; /* times are whole nanoseconds */
        previous_ns = times_ns[i];
    }
    return anderson_darling(gaps, N_GAPS, 1e6);
}

static void poisson_arrivals_have_exponential_gaps(void **state)
{
    (void)state;
    assert_true(statistic_of(CLIENT_CONNECT_POISSON) < CRITICAL);
}

/* With processes of their own, some would have opened their connections before others. */
static void any_number_of_workers_has_the_same_arrivals(void **state)
{
    static uint64_t of_one_ns[N_GAPS], of_three_ns[N_GAPS];

    (void)state;
    arrivals_of(CLIENT_CONNECT_POISSON, 1, of_one_ns);
    arrivals_of(CLIENT_CONNECT_POISSON, 3, of_three_ns);
    assert_memory_equal(of_one_ns, of_three_ns, sizeof of_one_ns);
}

/* The control. */
static void constant_arrivals_have_no_exponential_gaps(void **state)
{
    (void)state;
    assert_true(statistic_of(CLIENT_CONNECT_CONSTANT) > 100 * CRITICAL);
}

static void connections_do_not_arrive_with_the_queries(void **state)
{
    struct client_connect cc = {.transport = &transport};
    struct pacer_segment rate;
    struct pacer connections, queries;
    const struct pacer_config of_queries = {.arrival = PACER_POISSON,
                                            .segments = &rate,
                                            .n_segments = 1,
                                            .n_connections = 4,
                                            .n_workers = 1,
                                            .seed = 42};

    (void)state;
    start_worker(0, 1, 4);
    config.connect_arrival = CLIENT_CONNECT_POISSON;
    config.seed = 42;
    client_connect_pace(&cc, &connections, &rate, 1000, START);
    pacer_start(&queries, &of_queries, START);
    assert_true(connections.next_ns != queries.next_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_step_is_timed_from_when_it_was_due, stop_worker),
        cmocka_unit_test_teardown(what_a_connection_does_not_reach_is_later_than_all, stop_worker),
        cmocka_unit_test_teardown(a_handshake_is_a_step_of_its_own, stop_worker),
        cmocka_unit_test_teardown(a_connection_for_a_query_is_to_be_answered, stop_worker),
        cmocka_unit_test_teardown(one_that_is_not_measured_leaves_no_trace, stop_worker),
        cmocka_unit_test(poisson_arrivals_have_exponential_gaps),
        cmocka_unit_test(any_number_of_workers_has_the_same_arrivals),
        cmocka_unit_test(constant_arrivals_have_no_exponential_gaps),
        cmocka_unit_test_teardown(connections_do_not_arrive_with_the_queries, stop_worker),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
