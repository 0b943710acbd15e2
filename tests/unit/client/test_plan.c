/* SPDX-License-Identifier: MIT
 * test_plan: what a command line plans for: room for connections, memory of rows, kernel
 * timestamps, and the settings that the workers get. */
#include "client/plan.h"

#include "base/log.h"
#include "base/units.h"
#include "client/worker/demand.h"
#include "client/worker/record.h"
#include "client/worker/reopen.h"
#include "client/worker/slots.h"
#include "opts_steps.h"

#include <stdlib.h>

enum { ROW_BYTES = 32 };

static const uint64_t all_rows_bytes = 64 << 20;

static struct client_plan plan;

/* Returns client_plan_make()'s result; said: what it logs, to be freed by the caller. */
static int make(const char *line, char **said)
{
    char text[WORDS_BYTES];
    size_t n_bytes;
    FILE *stream = open_memstream(said, &n_bytes);
    int failed;

    assert_non_null(stream);
    snprintf(text, sizeof text, "%s 127.0.0.1:4242", line);
    if (parse(text) != OPTIONS_RUN)
        fail_msg("%s: %s", text, error);
    log_set_stream(stream);
    failed = client_plan_make(&plan, &opts);
    log_set_stream(NULL);
    assert_int_equal(fclose(stream), 0);
    return failed;
}

/* To be freed with client_plan_free(). */
static const struct client_config *plan_of(const char *line)
{
    char *said;

    if (make(line, &said) != 0)
        fail_msg("%s: %s", line, said);
    free(said);
    return &plan.config;
}

static void assert_rows_bytes(const char *line, uint64_t n_bytes)
{
    const uint64_t planned = plan_of(line)->memory_ends.client_touched_rows_bytes;

    if (planned != n_bytes)
        fail_msg("%s: %llu bytes", line, (unsigned long long)planned);
    client_plan_free(&plan);
}

/* Each query has a row when it is sent, and one for its answer. */
static void memory_of_rows_is_that_of_two_for_each_query(void **state)
{
    (void)state;
    assert_rows_bytes("-r 1000 -t 10", 0);
    assert_rows_bytes("-R -r 1000 -t 10", 2 * 10000 * ROW_BYTES);
    assert_rows_bytes("-R -r 1000 -t 10 --sample 1/8", 2 * 10000 / 8 * ROW_BYTES);
    assert_rows_bytes("-R --schedule 10s:0-2000", 2 * 10000 * ROW_BYTES);
    assert_rows_bytes("-R -r 15000 -t 3600", all_rows_bytes);
    assert_rows_bytes("-R -r 1000", all_rows_bytes);
}

static void rows_of_an_unknown_number_of_queries_fill_their_rings(void **state)
{
    (void)state;
    assert_rows_bytes("-R -c 10 -i 1 --loop closed -t 1", all_rows_bytes);
    assert_rows_bytes("-R -r 10 -t 1 --control unix:/x", all_rows_bytes);
    assert_rows_bytes("-R --find rate --find-range 1-2", all_rows_bytes);
}

static void assert_kept_bytes(const char *line, uint64_t n_bytes)
{
    assert_int_equal(plan_of(line)->memory_ends.client_kept_bytes, n_bytes);
    client_plan_free(&plan);
}

enum { slot_bytes = sizeof(struct client_slot) + sizeof(struct client_reopen_link) };

static void memory_of_records_is_that_of_runs_that_keep_them(void **state)
{
    (void)state;
    assert_kept_bytes("-c 100", 0);
    assert_kept_bytes("-c 100 --connections-out /x", sizeof(struct client_record));
}

static void memory_of_clients_on_demand_includes_their_idle_times_and_holds(void **state)
{
    const uint64_t n_bytes = sizeof(struct client_record) + slot_bytes +
                             client_demand_bytes(&(struct client_config){.on_demand = true});

    (void)state;
    assert_true(n_bytes > sizeof(struct client_record) + slot_bytes + deadlines_slot_bytes());
    assert_kept_bytes("-c 100 -r 10 --on-demand", n_bytes);
    assert_kept_bytes("-c 100 -r 10 --on-demand --keepalive", n_bytes + sizeof(uint32_t));
    assert_kept_bytes("-c 100 -r 10 --on-demand -n 5", n_bytes + sizeof(struct client_hold_times));
}

static void memory_of_slots_is_that_of_runs_that_reuse_them(void **state)
{
    static const char *const lines[] = {
        "-c 100 --reconnect",
        "-c 100 -r 10 --queries-per-conn 1",
        "--conn-schedule 5s:0-100",
        "-c 100 --control 127.0.0.1:9090",
        "-r 10 --find connections --find-range 1-100",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_kept_bytes(lines[i], slot_bytes);
}

static void assert_room(const char *line, uint32_t n, uint32_t n_at_begin)
{
    const struct client_config *c = plan_of(line);

    if (c->n_connections != n || c->n_at_begin != n_at_begin)
        fail_msg("%s: %u connections, %u at the start", line, c->n_connections, c->n_at_begin);
    client_plan_free(&plan);
}

static void there_is_room_for_the_connections_that_may_be_requested(void **state)
{
    (void)state;
    assert_room("-c 100", 100, 100);
    assert_room("-c 100 --control unix:/x", 200, 100);
    assert_room("-c 100 --control unix:/x --max-connections 150", 150, 100);
    assert_room("-c 100 -r 10 --on-demand --control unix:/x", 100, 100);
    assert_room("--conn-schedule 10s:1-50,5s:80 --control unix:/x", 80, 80);
    assert_room("-c 100 --find rate --find-range 1-2 --control unix:/x", 100, 100);
    assert_room("-r 10 --find connections --find-range 3-300", 300, 3);
    assert_room("--find rate --find-range 1-2 --sweep connections=5,50", 50, 5);
    /* an address has fewer identities than twice as many connections would need */
    assert_room("-c 40000 --control unix:/x --proxy-protocol v2 --proxy-source 10.0.0.1", 40000,
                40000);
}

/* Each is opened for its query. */
static void a_search_for_connections_per_second_begins_with_none(void **state)
{
    const struct client_config *c;

    (void)state;
    c = plan_of("--find connect-rate --find-range 1-2");
    assert_true(c->conn_per_query);
    assert_int_equal(c->n_at_begin, 0);
    assert_true(c->n_connections > 0);
    assert_false(c->prove);
    client_plan_free(&plan);
}

static void assert_refused(const char *line, const char *reason)
{
    char *said;

    assert_int_equal(make(line, &said), -1);
    if (strstr(said, reason) == NULL)
        fail_msg("%s: %s", line, said);
    free(said);
    client_plan_free(&plan);
}

static void what_cannot_be_planned_is_refused(void **state)
{
    (void)state;
    assert_refused("-c 70000 --proxy-protocol v2 --proxy-source 10.0.0.1",
                   "--proxy-source: invalid value '10.0.0.1': expected an identity for each of "
                   "70000 connections; each address provides ");
    assert_refused("--cpu 4095", "--cpu: ");
    assert_refused("--tls --tls-ca /nonexistent", "--tls-ca: ");
    assert_refused("--control 127.0.0.1", "--control: invalid value '127.0.0.1': expected ADDR:");
    assert_refused("--control 0.0.0.0:9090", "--control: '0.0.0.0:9090' is not a loopback address");
    assert_refused("--control unix:", "--control: invalid value 'unix:': expected a path");
    assert_refused("--server-control unix:/a,localhost:x", "--server-control: invalid value "
                                                           "'localhost:x': expected ADDR:PORT");
    assert_refused("--server-control unix:/a,unix:/a", "expected different addresses");
}

static void assert_window(const char *line, uint32_t n)
{
    assert_int_equal(plan_of(line)->connect_window, n);
    client_plan_free(&plan);
}

static void connections_that_arrive_do_not_wait_for_others(void **state)
{
    (void)state;
    assert_window("-c 500", 256);
    assert_window("-c 500 --connect-window 7", 7);
    assert_window("-c 500 -n 10 --connect-arrival poisson", 500);
    assert_window("-c 500 -n 10 --connect-arrival poisson --connect-window 7", 7);
}

static void assert_stamped(const char *line, bool is_stamped)
{
    if (plan_of(line)->socket.stamp_received != is_stamped)
        fail_msg("%s", line);
    client_plan_free(&plan);
}

static void the_kernel_timestamps_answers_at_low_rates_or_on_request(void **state)
{
    (void)state;
    assert_stamped("-r 99999", true);
    assert_stamped("-r 100000", false);
    assert_stamped("-r 100000 --kernel-ts", true);
    assert_stamped("--schedule 10s:0-100000", false); /* its peak counts */
    assert_stamped("--find rate --find-range 1-100000", false);
    assert_stamped("--find rate --find-range 1-99999", true);
}

static void only_udp_has_datagrams(void **state)
{
    (void)state;
    assert_false(plan_of("-r 10")->socket.datagrams);
    client_plan_free(&plan);
    assert_true(plan_of("-r 10 --transport udp")->socket.datagrams);
    client_plan_free(&plan);
}

static void workers_get_what_the_options_say(void **state)
{
    const struct client_config *c =
        plan_of("-c 20 -r 10 -n 30 --connect-window 5 --connect-timeout 3s --sndbuf 5000 --rcvbuf "
                "6000 --prove no --close rst --quickack");

    (void)state;
    assert_true(c->connect_rate_per_s == 30);
    assert_int_equal(c->connect_arrival, CLIENT_CONNECT_WINDOW);
    assert_int_equal(c->connect_window, 5);
    assert_true(c->connect_timeout_ns == 3 * UNITS_NS_PER_S);
    assert_int_equal(c->socket.sndbuf_bytes, 5000);
    assert_int_equal(c->socket.rcvbuf_bytes, 6000);
    assert_false(c->prove);
    assert_int_equal(c->close, CLIENT_CLOSE_RST);
    assert_true(c->quickack);
    assert_false(c->reconnect || c->on_demand || c->keepalive || c->quiet ||
                 c->record_connections || c->closes_newest);
    client_plan_free(&plan);
}

static void workers_get_what_other_options_say(void **state)
{
    const struct client_config *c =
        plan_of("-c 20 -i 2s --loop closed --seed 9 --drain 6s --timeout 4s --on-timeout close "
                "--queries-per-conn 7 --backoff 1s-2s --busy-poll --connections-out /x -q");

    (void)state;
    assert_int_equal(c->arrival, PACER_CONSTANT);
    assert_int_equal(c->select, CLIENT_SELECT_ROUND_ROBIN);
    assert_int_equal(c->loop, CLIENT_LOOP_CLOSED);
    assert_true(c->interval_ns == 2 * UNITS_NS_PER_S);
    assert_int_equal(c->seed, 9);
    assert_true(c->drain_ns == 6 * UNITS_NS_PER_S);
    assert_true(c->timeout_ns == 4 * UNITS_NS_PER_S);
    assert_int_equal(c->on_timeout, CLIENT_TIMEOUT_CLOSE);
    assert_int_equal(c->queries_per_conn, 7);
    assert_true(c->backoff.first_ns == UNITS_NS_PER_S);
    assert_true(c->backoff.most_ns == 2 * UNITS_NS_PER_S);
    assert_true(c->reconnect && c->quiet && c->record_connections);
    client_plan_free(&plan);
}

static void workers_get_what_clients_on_demand_need(void **state)
{
    const struct client_config *c = plan_of("-c 20 -r 5 --on-demand --idle-close 3s --keepalive");

    (void)state;
    assert_true(c->on_demand && c->keepalive && c->record_connections);
    assert_true(c->idle_close_ns == 3 * UNITS_NS_PER_S);
    client_plan_free(&plan);
    c = plan_of("--find rate --find-range 1-2");
    assert_true(c->closes_newest && c->prove);
    client_plan_free(&plan);
}

/* All rings together have as many rows as that of one worker, but for a minimum each. */
static void rings_of_many_workers_are_smaller(void **state)
{
    (void)state;
    assert_int_equal(client_plan_ring_rows(1), 1 << 21);
    assert_int_equal(client_plan_ring_rows(2), 1 << 20);
    assert_int_equal(client_plan_ring_rows(3), 1 << 19);
    assert_int_equal(client_plan_ring_rows(128), 1 << 14);
    assert_int_equal(client_plan_ring_rows(1000), 1 << 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_rows_is_that_of_two_for_each_query),
        cmocka_unit_test(rows_of_an_unknown_number_of_queries_fill_their_rings),
        cmocka_unit_test(memory_of_records_is_that_of_runs_that_keep_them),
        cmocka_unit_test(memory_of_clients_on_demand_includes_their_idle_times_and_holds),
        cmocka_unit_test(memory_of_slots_is_that_of_runs_that_reuse_them),
        cmocka_unit_test(there_is_room_for_the_connections_that_may_be_requested),
        cmocka_unit_test(a_search_for_connections_per_second_begins_with_none),
        cmocka_unit_test(what_cannot_be_planned_is_refused),
        cmocka_unit_test(connections_that_arrive_do_not_wait_for_others),
        cmocka_unit_test(the_kernel_timestamps_answers_at_low_rates_or_on_request),
        cmocka_unit_test(only_udp_has_datagrams),
        cmocka_unit_test(workers_get_what_the_options_say),
        cmocka_unit_test(workers_get_what_other_options_say),
        cmocka_unit_test(workers_get_what_clients_on_demand_need),
        cmocka_unit_test(rings_of_many_workers_are_smaller),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
