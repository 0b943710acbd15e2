/* SPDX-License-Identifier: MIT
 * test_server_cost: a made-up server of known cost. */
#include "measure/server_cost.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SECOND       1000000000ull
#define BEGIN_NS     (1000 * SECOND)
#define USER_BYTES   1500
#define KERNEL_BYTES 4200

/* 10 s of ramp to 10,000 connections, then 20 s of load at 5,000 q/s, of which each takes 30 us of
 * user and 70 us of system time.  Under load the server's memory grows by much more. */
static void fill(struct watch_series *s, unsigned n_processes)
{
    *s = (struct watch_series){0};
    for (uint64_t i = 0; i <= 30; i++) {
        struct watch_sample sample;
        const uint64_t connections = i < 10 ? 1000 * i : 10000,
                       queries = i < 10 ? 0 : 5000 * (i - 10);

        watch_sample_init(&sample);
        sample.at[WATCH_EPOCH_NS] = BEGIN_NS - 10 * SECOND + i * SECOND;
        sample.at[WATCH_CONNECTIONS] = connections;
        sample.at[WATCH_QUERIES] = queries;
        sample.at[WATCH_USER_US] = 12345 * (i < 10 ? i : 10) + 30 * queries;
        sample.at[WATCH_SYSTEM_US] = 54321 * (i < 10 ? i : 10) + 70 * queries;
        sample.at[WATCH_PROCESSES] = n_processes;
        sample.at[WATCH_RSS_BYTES] = 50000000 + USER_BYTES * connections + 77 * queries;
        sample.at[WATCH_PSS_BYTES] = i % 3 == 0 ? sample.at[WATCH_RSS_BYTES] / 2 : WATCH_UNKNOWN;
        sample.at[WATCH_CGROUP_KERNEL_BYTES] = 1000000 + KERNEL_BYTES * connections + 99 * queries;
        sample.at[WATCH_LISTEN_QUEUE] = i == 7 ? 31 : 0;
        sample.at[WATCH_LISTEN_BACKLOG] = i == 8 ? 128 : 511;
        sample.at[WATCH_LISTEN_OVERFLOWS] = i < 7 ? 40 : 42;
        sample.at[WATCH_LISTEN_DROPS] = i < 9 ? 50 : 55;
        assert_int_equal(watch_series_add(s, &sample), 0);
    }
}

static struct server_cost cost_of(struct watch_series *s, uint64_t begin_ns)
{
    struct server_cost c = {.name = "server"};

    server_cost_compute(&c, s, begin_ns,
                        begin_ns == UINT64_MAX ? begin_ns : begin_ns + 20 * SECOND);
    return c;
}

static void memory_is_the_slope_over_the_ramp_alone(void **state)
{
    struct watch_series s;
    struct server_cost c;

    (void)state;
    fill(&s, 1);
    c = cost_of(&s, BEGIN_NS);
    assert_int_equal(c.user_source, SERVER_COST_RSS);
    assert_int_equal(c.user.n, 11);
    assert_true(fabs(c.user.per_x - USER_BYTES) < 0.001);
    assert_true(fabs(c.kernel.per_x - KERNEL_BYTES) < 0.001);
    /* the control: with the samples under load, the memory of queries would count */
    c = cost_of(&s, BEGIN_NS + 20 * SECOND);
    assert_true(c.kernel.per_x > KERNEL_BYTES + 100);
    watch_series_free(&s);
}

static void shared_memory_of_several_processes_counts_once(void **state)
{
    struct watch_series s;
    struct server_cost c;

    (void)state;
    fill(&s, 3);
    c = cost_of(&s, BEGIN_NS);
    assert_int_equal(c.user_source, SERVER_COST_PSS);
    assert_true(fabs(c.user.per_x - USER_BYTES / 2.0) < 0.001);
    for (size_t i = 0; i < s.n; i++)
        s.items[i].at[WATCH_CGROUP_USER_BYTES] = 800 * s.items[i].at[WATCH_CONNECTIONS];
    c = cost_of(&s, BEGIN_NS);
    assert_int_equal(c.user_source, SERVER_COST_CGROUP);
    assert_true(fabs(c.user.per_x - 800) < 0.001);
    watch_series_free(&s);
}

static void cpu_time_is_that_of_the_load_alone(void **state)
{
    struct watch_series s;
    struct server_cost c;

    (void)state;
    fill(&s, 1);
    c = cost_of(&s, BEGIN_NS);
    assert_int_equal(c.queries, 100000);
    assert_true(fabs(c.user_ns - 30000) < 1 && fabs(c.system_ns - 70000) < 1);
    assert_true(fabs(c.cpus - 0.5) < 0.001);
    c = cost_of(&s, UINT64_MAX);
    assert_true(isnan(c.user_ns) && c.queries == WATCH_UNKNOWN);
    /* what it does afterwards, as connections are closed, is no cost of queries */
    s.items[30].at[WATCH_USER_US] += 5000000;
    server_cost_compute(&c, &s, BEGIN_NS, BEGIN_NS + 20 * SECOND - 1);
    assert_int_equal(c.queries, 95000);
    assert_true(fabs(c.user_ns - 30000) < 1 && fabs(c.cpus - 0.5) < 0.001);
    watch_series_free(&s);
}

/* As when the process was gone, or its counters could not be read. */
static void a_sample_without_cpu_time_is_left_out(void **state)
{
    static const enum watch_figure figures[] = {WATCH_QUERIES, WATCH_USER_US, WATCH_SYSTEM_US};
    struct watch_series s;
    struct server_cost c;

    (void)state;
    for (int i = 0; i < 3; i++) {
        fill(&s, 1);
        s.items[30].at[figures[i]] = WATCH_UNKNOWN;
        c = cost_of(&s, BEGIN_NS);
        assert_int_equal(c.queries, 95000);
        assert_true(fabs(c.user_ns - 30000) < 1 && fabs(c.system_ns - 70000) < 1);
        watch_series_free(&s);
    }
}

static void buffers_are_the_most_per_connection_at_any_sample(void **state)
{
    struct watch_series s;
    struct server_cost c;

    (void)state;
    fill(&s, 1);
    for (size_t i = 0; i < s.n; i++) {
        s.items[i].at[WATCH_ESTABLISHED] = 10 * i;
        s.items[i].at[WATCH_BUFFER_BYTES] = i == 0 ? 9999 : i == 5 ? 350 : 10;
    }
    s.items[6].at[WATCH_ESTABLISHED] = WATCH_UNKNOWN;
    c = cost_of(&s, BEGIN_NS);
    assert_true(c.buffer_bytes == 7); /* of 50 */
    watch_series_free(&s);
}

static void memory_of_the_whole_is_the_most_at_any_sample(void **state)
{
    static const enum watch_figure figures[] = {WATCH_RSS_BYTES, WATCH_PSS_BYTES,
                                                WATCH_CGROUP_BYTES};
    struct watch_series s = {0};
    struct server_cost c;

    (void)state;
    for (uint64_t i = 0; i < 4; i++) {
        struct watch_sample sample;

        watch_sample_init(&sample);
        for (uint64_t k = 0; k < 3; k++)
            sample.at[figures[k]] = 1000 * (k + 1) + (i == k ? 5 : 0);
        assert_int_equal(watch_series_add(&s, &sample), 0);
    }
    c = cost_of(&s, BEGIN_NS);
    assert_int_equal(c.rss_bytes, 1005);
    assert_int_equal(c.pss_bytes, 2005);
    assert_int_equal(c.cgroup_bytes, 3005);
    watch_series_free(&s);
}

static void connections_that_come_under_load_count_too(void **state)
{
    struct watch_series s;

    (void)state;
    fill(&s, 1);
    assert_int_equal(cost_of(&s, BEGIN_NS - 8 * SECOND).kernel.n, 31);
    assert_int_equal(cost_of(&s, BEGIN_NS - 6 * SECOND).kernel.n, 31); /* 6,000 of 10,000 */
    assert_int_equal(cost_of(&s, BEGIN_NS - 5 * SECOND).kernel.n, 6);
    watch_series_free(&s);
}

/* With 99 connections, and with 100. */
static void few_connections_say_nothing_of_memory(void **state)
{
    struct watch_series s;
    struct server_cost c;

    (void)state;
    fill(&s, 1);
    for (size_t i = 0; i < s.n; i++)
        s.items[i].at[WATCH_CONNECTIONS] = s.items[i].at[WATCH_CONNECTIONS] * 99 / 10000 + 7;
    c = cost_of(&s, BEGIN_NS);
    assert_int_equal(c.user.n + c.kernel.n, 0);
    assert_int_equal(c.user_source, SERVER_COST_NONE);
    assert_true(isnan(c.user.per_x) && isnan(c.kernel.low));
    assert_true(!isnan(c.user_ns)); /* CPU time does not depend on them */
    for (size_t i = 10; i < s.n; i++)
        s.items[i].at[WATCH_CONNECTIONS]++;
    c = cost_of(&s, BEGIN_NS);
    assert_int_equal(c.user.n, 11);
    assert_int_equal(c.kernel.n, 11);
    s.items[0].at[WATCH_RSS_BYTES] =
        WATCH_UNKNOWN; /* the growth that counts is where it is known */
    c = cost_of(&s, BEGIN_NS);
    assert_int_equal(c.user.n, 0);
    assert_int_equal(c.kernel.n, 11);
    watch_series_free(&s);
}

/* All memory of the server is on one line. */
static void the_interval_allows_for_pages(void **state)
{
    struct watch_series s;
    struct server_cost c;

    (void)state;
    fill(&s, 1);
    c = cost_of(&s, BEGIN_NS);
    assert_true(c.user.low < USER_BYTES - 0.1 && USER_BYTES + 0.1 < c.user.high);
    assert_true(c.kernel.low < KERNEL_BYTES - 0.1 && KERNEL_BYTES + 0.1 < c.kernel.high);
    watch_series_free(&s);
}

static void the_listen_queue_is_followed(void **state)
{
    struct watch_series s;
    struct server_cost c;

    (void)state;
    fill(&s, 1);
    c = cost_of(&s, BEGIN_NS);
    assert_int_equal(c.listen_queue, 31);
    assert_int_equal(c.listen_backlog, 128);
    assert_int_equal(c.listen_overflows, 2);
    assert_int_equal(c.listen_drops, 5);
    watch_series_free(&s);
}

static void without_samples_all_is_unknown(void **state)
{
    struct watch_series s = {0};
    const struct server_cost c = cost_of(&s, BEGIN_NS);

    (void)state;
    assert_int_equal(c.user.n + c.kernel.n + c.n_samples, 0);
    assert_int_equal(c.user_source, SERVER_COST_NONE);
    assert_true(isnan(c.cpus) && isnan(c.buffer_bytes) && c.fds == WATCH_UNKNOWN);
    assert_int_equal(c.listen_overflows, WATCH_UNKNOWN);
    assert_int_equal(c.listen_drops, WATCH_UNKNOWN);
}

static void names_are_printable(void **state)
{
    char name[SERVER_COST_NAME_BYTES], longer[2 * SERVER_COST_NAME_BYTES];

    (void)state;
    server_cost_copy_name(name, "a\033[31m\n\xff\x7f<b>");
    assert_string_equal(name, "a?[31m?"
                              "?"
                              "?<b>");
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    server_cost_copy_name(name, longer);
    assert_int_equal(strlen(name), SERVER_COST_NAME_BYTES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_the_slope_over_the_ramp_alone),
        cmocka_unit_test(shared_memory_of_several_processes_counts_once),
        cmocka_unit_test(cpu_time_is_that_of_the_load_alone),
        cmocka_unit_test(a_sample_without_cpu_time_is_left_out),
        cmocka_unit_test(buffers_are_the_most_per_connection_at_any_sample),
        cmocka_unit_test(memory_of_the_whole_is_the_most_at_any_sample),
        cmocka_unit_test(connections_that_come_under_load_count_too),
        cmocka_unit_test(few_connections_say_nothing_of_memory),
        cmocka_unit_test(the_interval_allows_for_pages),
        cmocka_unit_test(the_listen_queue_is_followed),
        cmocka_unit_test(without_samples_all_is_unknown),
        cmocka_unit_test(names_are_printable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
