/* SPDX-License-Identifier: MIT
 * test_server_plan: how many threads, listeners and connections the limits of a host allow.  Linked
 * with
 * --wrap=host_limits_read,
 * --wrap=host_limits_of_user,
 * --wrap=process_limits_raise_nofile,
 * --wrap=process_limits_cpus,
 * --wrap=process_limits_share_malloc,
 * --wrap=thread_can_own_fd_table and
 * --wrap=source_limit_new. */
#include "server/plan.h"

#include "host/preflight_memory.h"
#include "server/header.h"

#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { NOFILE = 1064, ROOM = 1000, MOST_WORKERS = NOFILE - NOFILE / 8 - 64 };

/* The host: no limit but that of descriptors, until a test sets others. */
static struct host_limits host;
static uint32_t n_cpus;
static bool own_fd_tables, is_out_of_memory;
static uint32_t n_sources;
static uint64_t user_of_limits;

static struct server_plan plan;
static struct server_opts opts;

/* Called by server/plan. */
void __wrap_host_limits_read(struct host_limits *limits);
void __wrap_host_limits_of_user(struct host_limits *limits, uint64_t user);
uint64_t __wrap_process_limits_raise_nofile(void);
uint32_t __wrap_process_limits_cpus(void);
void __wrap_process_limits_share_malloc(void);
bool __wrap_thread_can_own_fd_table(void);
struct source_limit *__wrap_source_limit_new(uint64_t most, uint32_t n_connections,
                                             uint64_t secret);
struct source_limit *__real_source_limit_new(uint64_t most, uint32_t n_connections,
                                             uint64_t secret);

void __wrap_host_limits_read(struct host_limits *limits)
{
    *limits = host;
}

void __wrap_host_limits_of_user(struct host_limits *limits, uint64_t user)
{
    assert_ptr_equal(limits, &plan.host);
    user_of_limits = user;
}

uint64_t __wrap_process_limits_raise_nofile(void)
{
    return host.nofile;
}

uint32_t __wrap_process_limits_cpus(void)
{
    return n_cpus;
}

void __wrap_process_limits_share_malloc(void)
{
}

bool __wrap_thread_can_own_fd_table(void)
{
    return own_fd_tables;
}

struct source_limit *__wrap_source_limit_new(uint64_t most, uint32_t n_connections, uint64_t secret)
{
    n_sources = n_connections;
    return is_out_of_memory ? NULL : __real_source_limit_new(most, n_connections, secret);
}

static int setup(void **state)
{
    (void)state;
    memset(&host, 0xff, sizeof host); /* HOST_LIMITS_UNKNOWN */
    host.is_exempt_from_file_max = host.cgroup_is_v2 = host.data_is_limit = false;
    host.may_bind_privileged = host.conntrack_max_is_of_host = false;
    host.cgroup_threads_limit[0] = host.cgroup_limit[0] = '\0';
    host.nofile = NOFILE;
    n_cpus = 4;
    own_fd_tables = true;
    is_out_of_memory = false;
    opts = (struct server_opts){.bind = "::"};
    return 0;
}

static void make(void)
{
    memset(&plan, 0, sizeof plan);
    assert_int_equal(server_plan_make(&plan, &opts), 0);
}

static void assert_plan(uint32_t n_workers, uint32_t most_workers, uint32_t n_listeners,
                        uint64_t room)
{
    make();
    assert_int_equal(plan.n_workers, n_workers);
    assert_int_equal(plan.most_workers, most_workers);
    assert_int_equal(plan.n_listeners, n_listeners);
    assert_int_equal(plan.room, room);
}

static void a_thread_per_cpu_is_followed_by_others(void **state)
{
    (void)state;
    assert_plan(4, MOST_WORKERS, 4, (uint64_t)MOST_WORKERS * ROOM);
    assert_false(plan.config.threads_are_fixed);
    assert_int_equal(plan.config.n_kept_fds, 0);
    opts.max_connections = 10000; /* and a twentieth of them: more than 10 tables hold */
    assert_plan(11, MOST_WORKERS, 11, (uint64_t)MOST_WORKERS * ROOM);
    opts.max_connections = 9523; /* 9,999.15 */
    assert_plan(10, MOST_WORKERS, 10, (uint64_t)MOST_WORKERS * ROOM);
}

static void requested_threads_are_all_there_are(void **state)
{
    (void)state;
    opts.threads = 2;
    assert_plan(2, 2, 2, 2 * ROOM);
    assert_true(plan.config.threads_are_fixed);
}

static void more_than_48_listeners_take_descriptors(void **state)
{
    (void)state;
    opts.threads = 60;
    assert_plan(60, 60, 48, 60 * ROOM);
    n_cpus = 50;
    assert_plan(60, 60, 50, 60 * (ROOM - 2));
}

static void in_a_shared_table_each_thread_takes_descriptors(void **state)
{
    (void)state;
    own_fd_tables = false;
    assert_plan(4, 4, 4, ROOM - 4 * 7);
    assert_true(plan.config.n_kept_fds > 0);
    opts.threads = 60;
    assert_plan(60, 60, 60, ROOM - 60 * 7);
    assert_false(plan.config.threads_are_fixed);
}

static void limits_of_threads_are_kept(void **state)
{
    (void)state;
    make();
    assert_null(plan.config.thread_limit);
    host.user_threads_max = 110;
    host.user_threads = 100;
    assert_plan(4, 10, 4, 10 * ROOM);
    assert_non_null(plan.config.thread_limit);
    host.user_threads = 109; /* the plan says that they are too many */
    assert_plan(4, 4, 4, 4 * ROOM);
}

static void limits_of_the_host_are_kept(void **state)
{
    const uint64_t all = (uint64_t)MOST_WORKERS * ROOM;

    (void)state;
    host.epoll_watches = 6000;
    assert_plan(4, MOST_WORKERS, 4, 6000);
    host.file_max = 5000;
    assert_plan(4, MOST_WORKERS, 4, 5000);
    host.files_open = 100;
    assert_plan(4, MOST_WORKERS, 4, 4900);
    host.files_open = 5001;
    assert_plan(4, MOST_WORKERS, 4, 0);
    host.is_exempt_from_file_max = true;
    assert_plan(4, MOST_WORKERS, 4, 6000);
    host.epoll_watches = HOST_LIMITS_UNKNOWN;
    assert_plan(4, MOST_WORKERS, 4, all);
}

static bool fits(uint64_t n)
{
    const struct memory_ends ends = {
        .server_connections = n, .server_threads = 2, .counts_sources = opts.max_per_source > 0};

    return preflight_memory_suffices(&host, &ends, MEMORY_WATCH_OF_SERVER);
}

static void as_many_fit_as_there_is_memory_for(void **state)
{
    int n_partly = 0;

    (void)state;
    opts.threads = 2;
    for (uint64_t mib = 4; mib < 24; mib++) {
        host.memory_total_bytes = host.memory_available_bytes = mib << 20;
        opts.max_per_source = mib % 2;
        make();
        assert_true(plan.room == 0 || fits(plan.room));
        assert_true(plan.room == 2 * ROOM || !fits(plan.room + 1));
        n_partly += plan.room > 0 && plan.room < 2 * ROOM;
    }
    assert_true(n_partly > 2);
}

static void without_descriptors_nothing_is_planned(void **state)
{
    (void)state;
    host.nofile = 64;
    memset(&plan, 0, sizeof plan);
    assert_int_equal(server_plan_make(&plan, &opts), -1);
    host.nofile = 65;
    opts.threads = 1;
    assert_plan(1, 1, 1, 1);
}

static void headers_have_5_s_or_the_idle_time_if_that_is_shorter(void **state)
{
    static const struct {
        bool proxy;
        uint64_t idle_ns, header_ns;
    } cases[] = {{false, 0, 0},
                 {false, 1, 0},
                 {true, 0, SERVER_HEADER_TIMEOUT_NS},
                 {true, SERVER_HEADER_TIMEOUT_NS - 1, SERVER_HEADER_TIMEOUT_NS - 1},
                 {true, SERVER_HEADER_TIMEOUT_NS + 1, SERVER_HEADER_TIMEOUT_NS}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        opts.proxy = cases[i].proxy;
        opts.idle_timeout_ns = cases[i].idle_ns;
        make();
        assert_int_equal(plan.config.idle_timeout_ns, cases[i].idle_ns);
        assert_int_equal(plan.config.header_timeout_ns, cases[i].header_ns);
    }
}

static void options_reach_the_workers(void **state)
{
    const struct server_config *c = &plan.config;

    (void)state;
    opts.protocol = 1;
    opts.push_rate_per_s = 2;
    opts.push_bytes = 3;
    opts.push_select = 1;
    opts.max_connections = 5;
    opts.quiet = opts.busy_poll = true;
    make();
    assert_int_equal(c->protocol, 1);
    assert_true(c->push_rate_per_s == 2);
    assert_int_equal(c->push_bytes, 3);
    assert_int_equal(c->push_select, 1);
    assert_int_equal(c->max_connections, 5);
    assert_true(c->quiet);
    assert_true(c->busy_poll);
    opts.quiet = false;
    make();
    assert_false(c->quiet);
    assert_true(c->busy_poll);
}

static void limits_are_those_of_the_user(void **state)
{
    const struct passwd *nobody = getpwnam("nobody");

    (void)state;
    if (nobody == NULL)
        skip();
    user_of_limits = HOST_LIMITS_UNKNOWN;
    make();
    assert_true(user_of_limits == HOST_LIMITS_UNKNOWN);
    opts.user = "nobody";
    make();
    assert_int_equal(user_of_limits, nobody->pw_uid);
    opts.user = "no such user";
    assert_int_equal(server_plan_make(&plan, &opts), -1);
}

static void certificates_that_cannot_be_read_end_the_plan(void **state)
{
    (void)state;
    opts.tls_cert = "/nonexistent";
    memset(&plan, 0, sizeof plan);
    assert_int_equal(server_plan_make(&plan, &opts), -1);
}

static void control_ports_that_would_be_refused_end_the_plan(void **state)
{
    static const char *const bad[] = {"foo", "0.0.0.0:9000", "unix:"};

    (void)state;
    opts.control = "127.0.0.1:9000";
    make(); /* the control */
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        opts.control = bad[i];
        memset(&plan, 0, sizeof plan);
        assert_int_equal(server_plan_make(&plan, &opts), -1);
    }
}

static void sources_have_room_for_all_connections(void **state)
{
    (void)state;
    n_sources = 0;
    make();
    assert_int_equal(server_plan_limit_sources(&plan, &opts), 0);
    assert_int_equal(n_sources, 0); /* not limited */
    opts.max_per_source = 2;
    assert_int_equal(server_plan_limit_sources(&plan, &opts), 0);
    assert_in_range(n_sources, 1024, NOFILE * MOST_WORKERS);
    server_plan_free(&plan);
    opts.max_connections = 100;
    make();
    assert_int_equal(server_plan_limit_sources(&plan, &opts), 0);
    assert_int_equal(n_sources, 104); /* one more for each thread */
    server_plan_free(&plan);
    is_out_of_memory = true;
    make();
    assert_int_equal(server_plan_limit_sources(&plan, &opts), -1);
    server_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_thread_per_cpu_is_followed_by_others, setup),
        cmocka_unit_test_setup(requested_threads_are_all_there_are, setup),
        cmocka_unit_test_setup(more_than_48_listeners_take_descriptors, setup),
        cmocka_unit_test_setup(in_a_shared_table_each_thread_takes_descriptors, setup),
        cmocka_unit_test_setup(limits_of_threads_are_kept, setup),
        cmocka_unit_test_setup(limits_of_the_host_are_kept, setup),
        cmocka_unit_test_setup(as_many_fit_as_there_is_memory_for, setup),
        cmocka_unit_test_setup(without_descriptors_nothing_is_planned, setup),
        cmocka_unit_test_setup(headers_have_5_s_or_the_idle_time_if_that_is_shorter, setup),
        cmocka_unit_test_setup(options_reach_the_workers, setup),
        cmocka_unit_test_setup(limits_are_those_of_the_user, setup),
        cmocka_unit_test_setup(control_ports_that_would_be_refused_end_the_plan, setup),
        cmocka_unit_test_setup(certificates_that_cannot_be_read_end_the_plan, setup),
        cmocka_unit_test_setup(sources_have_room_for_all_connections, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
