/* SPDX-License-Identifier: MIT
 * test_load: queries are sent between the callbacks of sockets. */
#include "client/worker/load.h"

#include "dispatch_steps.h"
#include "net/worker.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const bool takes_arrivals[] = {true};
static struct client_load load;
static uint64_t time_ns;
static int n_reads, ends[2]; /* of the clock; the connection's, its peer's */

int clock_gettime(clockid_t clock, struct timespec *at)
{
    if (clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, at);
    n_reads++;
    at->tv_sec = (time_t)(time_ns / 1000000000);
    at->tv_nsec = (long)(time_ns % 1000000000);
    return 0;
}

/* A query is due every ms from START on; it is 1 ms before that. */
static int start(void **state)
{
    (void)state;
    time_ns = START - MS;
    start_worker(0, 1, 1);
    transport.base = event_base_new();
    if (transport.base == NULL ||
        event_base_priority_init(transport.base, WORKER_N_PRIORITIES) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
        return -1;
    conns[0].socket.fd = ends[0];
    start_dispatch(1000, takes_arrivals);
    inflight_free(&queries.inflight);
    load = (struct client_load){.transport = &transport,
                                .span = &span,
                                .due = &due,
                                .dispatch = &dispatch,
                                .queries = &queries,
                                .send = &send_queue};
    if (client_query_init(&queries) != 0 || client_load_init(&load) != 0)
        return -1;
    span.now_ns = time_ns;
    client_load_after_read(&load);
    n_reads = 0;
    return 0;
}

static int stop(void **state)
{
    client_load_free(&load);
    client_query_disarm_expiry(&queries);
    stop_dispatch(state);
    event_base_free(transport.base);
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static uint64_t n_sent(void)
{
    return tally_get(&figures.tally.queries[TALLY_MEASURED].sent);
}

/* As where many connections close: their callbacks do not read the clock. */
static void queries_are_sent_between_callbacks_without_answers(void **state)
{
    (void)state;
    client_load_after_read(&load);
    assert_int_equal(n_sent(), 0);
    for (uint64_t n = 1; n <= 3; n++) {
        time_ns = START + (n - 1) * MS;
        client_load_after_read(&load);
        client_load_after_read(&load);
        assert_int_equal(n_sent(), n);
    }
}

/* That would add some percent to the cost of a query at a high rate. */
static void the_clock_is_not_read_again_after_an_answer(void **state)
{
    (void)state;
    time_ns = span.now_ns = START - MS / 2;
    span.answered = true;
    client_load_after_read(&load);
    assert_int_equal(n_reads, 0);
    client_load_after_read(&load);
    assert_int_equal(n_reads, 1);
}

/* A timer opened a connection and sent its first query, before the loop waited. */
static void the_clock_is_read_although_a_query_was_sent_before(void **state)
{
    (void)state;
    span.now_ns = time_ns + 1;
    time_ns = START + MS / 2;
    client_load_after_read(&load);
    assert_int_equal(span.now_ns, START + MS / 2);
    assert_int_equal(n_sent(), 1);
}

/* As where the first socket that is ready after a wait has opened or closed: otherwise a query that
 * was due during the wait would be sent later, and its lateness be less than it was. */
static void the_clock_is_read_after_a_wait(void **state)
{
    (void)state;
    time_ns += 1;
    client_load_before_turn(&load);
    time_ns = START + MS / 2;
    client_load_after_read(&load);
    assert_int_equal(span.now_ns, START + MS / 2);
    assert_int_equal(n_sent(), 1);
}

static void the_clock_is_read_after_a_wait_for_nothing_that_is_due(void **state)
{
    (void)state;
    span.running = false;
    span.now_ns = time_ns + 1;
    client_load_before_turn(&load);
    time_ns = START + MS / 2;
    client_load_after_read(&load);
    assert_int_equal(span.now_ns, START + MS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(queries_are_sent_between_callbacks_without_answers, start,
                                        stop),
        cmocka_unit_test_setup_teardown(the_clock_is_not_read_again_after_an_answer, start, stop),
        cmocka_unit_test_setup_teardown(the_clock_is_read_although_a_query_was_sent_before, start,
                                        stop),
        cmocka_unit_test_setup_teardown(the_clock_is_read_after_a_wait, start, stop),
        cmocka_unit_test_setup_teardown(the_clock_is_read_after_a_wait_for_nothing_that_is_due,
                                        start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
