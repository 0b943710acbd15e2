/* SPDX-License-Identifier: MIT
 * test_preflight_memory: the memory that a plan needs, compared with memory, cgroup and address
 * space. */
#include "host/preflight_memory.h"

#include "host/process_limits.h"
#include "preflight_steps.h"

static void tls_needs_memory_for_each_connection(void **state)
{
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    ask.tls = true;
    preflight_client(&p, &host_of_10000, &ask);
    assert_int_equal(find(&p, "memory (bytes available)")->level, PREFLIGHT_STOP);
    assert_int_equal(find(&p, "memory (bytes available)")->needed,
                     NEEDED + 10000ull * (20000 + 15200));
}

static void limit_of_a_cgroup_counts_though_there_is_memory(void **state)
{
    static const struct {
        bool is_v2;
        uint64_t server_bytes; /* charged for each socket of the server */
    } versions[] = {{false, 1488}, {true, 3992}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const uint64_t charged = NEEDED - 10000 * (4208 + 4080 - 4080 - versions[i].server_bytes);
        struct host_limits host = host_of_10000;
        struct preflight p;

        host.cgroup_is_v2 = versions[i].is_v2;
        host.cgroup_limit_bytes = 64ull << 20;
        host.cgroup_available_bytes = RESERVE + charged - 1;
        strcpy(host.cgroup_limit, "/sys/fs/cgroup/u/memory.max");
        preflight_client(&p, &host, &ask_10000);
        assert_only(&p, "cgroup memory (bytes available)", PREFLIGHT_STOP,
                    "or raise /sys/fs/cgroup/u/memory.max");
        assert_int_equal(find(&p, "cgroup memory (bytes available)")->needed, charged);
        assert_int_equal(find(&p, "cgroup memory (bytes available)")->available, charged - 1);
        host.cgroup_available_bytes = RESERVE + charged;
        preflight_client(&p, &host, &ask_10000);
        assert_only(&p, "cgroup memory (bytes available)", PREFLIGHT_WARN, "80 %");
    }
}

static void address_space_has_to_hold_own_stacks_and_connections(void **state)
{
    const uint64_t own = 10000ull * 95 + 13000000 + 2 * (11600000 + (8ull << 20));
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    host.address_space_bytes = own - 1;
    preflight_client(&p, &host, &ask_10000);
    assert_only(&p, "address space (bytes available)", PREFLIGHT_STOP,
                "use fewer connections (about 95 bytes each), or raise ulimit -v");
    host.address_space_bytes = own;
    preflight_client(&p, &host, &ask_10000);
    assert_only(&p, "address space (bytes available)", PREFLIGHT_WARN,
                "80 % of what ulimit -v leaves: memory may run out");
    host.data_is_limit = true;
    preflight_client(&p, &host, &ask_10000);
    assert_only(&p, "address space (bytes available)", PREFLIGHT_WARN, "what ulimit -d leaves");
    host.address_space_bytes = own - 1;
    preflight_client(&p, &host, &ask_10000);
    assert_only(&p, "address space (bytes available)", PREFLIGHT_STOP, "or raise ulimit -d");
    host.address_space_bytes = own * 10 / 8 + 100;
    preflight_client(&p, &host, &ask_10000);
    assert_int_equal(preflight_worst(&p), PREFLIGHT_OK);
}

static void helper_thread_needs_a_stack(void **state)
{
    const char *name = "address space (bytes available)";
    struct host_limits host = host_of_10000;
    struct preflight_client ask = ask_10000;
    struct preflight without, with;

    (void)state;
    host.address_space_bytes = 1ull << 30;
    preflight_client(&without, &host, &ask);
    ask.n_helper_threads = 1;
    preflight_client(&with, &host, &ask);
    assert_int_equal(find(&with, name)->needed - find(&without, name)->needed, 8 << 20);
}

static void server_elsewhere_needs_no_memory_here(void **state)
{
    struct preflight_client ask = ask_10000;
    struct memory_ends ends;

    (void)state;
    ask.n_threads = 2;
    ask.peer_is_here = true;
    ends = preflight_client_ends(&ask);
    assert_int_equal(ends.server_connections, 10000);
    assert_int_equal(ends.server_threads, 2);
    ask.peer_is_here = false;
    ends = preflight_client_ends(&ask);
    assert_int_equal(ends.server_connections, 0);
    assert_int_equal(ends.server_threads, 0);
}

static void server_needs_memory_for_its_connections(void **state)
{
    struct preflight p;

    (void)state;
    preflight_server(&p, &host_of_10000,
                     &(struct preflight_server){10000, 2, true, 64, 256, false, false, false});
    assert_int_equal(find(&p, "memory (bytes available)")->needed,
                     10000ull * (4080 + 75) + 1500000 + 2 * (31000 + 40000));
    preflight_server(&p, &host_of_10000,
                     &(struct preflight_server){10000, 2, true, 64, 256, false, true, false});
    assert_int_equal(find(&p, "memory (bytes available)")->needed,
                     10000ull * (4080 + 75 + 24) + 1500000 + 2 * (31000 + 40000));
}

static void without_connections_there_are_none_to_omit(void **state)
{
    const struct preflight_server ask = {0, 4, true, 64, 4096, false, false, false};
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    host.address_space_bytes = (4ull * 8 << 20) - 1;
    preflight_server(&p, &host, &ask);
    assert_string_equal(find(&p, "address space (bytes available)")->fix,
                        "raise ulimit -v, or use fewer --threads");
}

static void fewer_connections_are_a_remedy_only_if_one_fits_or_they_need_threads(void **state)
{
    const uint64_t of_one = 95 + 13000000 + 2 * (11600000 + (8ull << 20));
    const char *name = "address space (bytes available)";
    struct host_limits host = host_of_10000;
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    host.address_space_bytes = of_one;
    preflight_client(&p, &host, &ask);
    assert_only(&p, name, PREFLIGHT_STOP, "fewer connections (");
    host.address_space_bytes = of_one - 1;
    preflight_client(&p, &host, &ask); /* two tables for 5,000 each */
    assert_string_equal(find(&p, name)->fix, "use fewer connections, which need fewer threads, or "
                                             "raise ulimit -v, or use fewer --threads");
    host.nofile = 20000;
    preflight_client(&p, &host, &ask);
    assert_string_equal(find(&p, name)->fix, "raise ulimit -v, or use fewer --threads");
    host.address_space_bytes = 1500000;
    ask.n_threads = 1;
    preflight_client(&p, &host, &ask);
    assert_string_equal(find(&p, name)->fix, "raise ulimit -v");
}

/* The connections need ten tables. */
static void threads_are_needed_if_they_are_about_as_many_as_the_tables(void **state)
{
    struct host_limits host = host_of_10000;
    struct preflight_client ask = ask_10000;
    struct preflight p;

    (void)state;
    host.address_space_bytes = 1500000;
    while (process_limits_workers_for(ask.n_connections, host.nofile, 1) < 10)
        host.nofile--;
    for (ask.n_threads = 10; ask.n_threads <= 13; ask.n_threads++) {
        preflight_client(&p, &host, &ask);
        assert_int_equal(strstr(find(&p, "address space (bytes available)")->fix,
                                "fewer connections, which need fewer threads, or ") != NULL,
                         ask.n_threads <= 12);
    }
}

static void what_is_available_of_unknown_memory_is_unknown(void **state)
{
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    host.memory_total_bytes = 8ull << 30;
    host.memory_available_bytes = HOST_LIMITS_UNKNOWN;
    preflight_client(&p, &host, &ask_10000);
    assert_true(find(&p, "memory (bytes available)")->available == HOST_LIMITS_UNKNOWN);
    assert_int_equal(find(&p, "memory (bytes available)")->level, PREFLIGHT_OK);
}

static void no_memory_is_available_where_less_than_the_reserve_is_left(void **state)
{
    struct host_limits host = host_of_10000;
    struct preflight p;

    (void)state;
    host.memory_available_bytes = host.cgroup_available_bytes = RESERVE - 1;
    host.cgroup_limit_bytes = 64ull << 20;
    preflight_client(&p, &host, &ask_10000);
    assert_int_equal(find(&p, "memory (bytes available)")->available, 0);
    assert_int_equal(find(&p, "memory (bytes available)")->level, PREFLIGHT_STOP);
    assert_int_equal(find(&p, "cgroup memory (bytes available)")->available, 0);
    assert_int_equal(find(&p, "cgroup memory (bytes available)")->level, PREFLIGHT_STOP);
}

/* The server keeps half as much as the client, 4 MiB of up to 512 MiB, and what it needs itself. */
static void memory_suffices_if_no_line_says_stop(void **state)
{
    const struct memory_ends own = {.server_connections = 10000, .server_threads = 2};
    const uint64_t program = 1500000 + 2 * 31000, reserve = (4ull << 20) + program,
                   needed = 10000ull * (4080 + 75) + program + 2 * 40000,
                   charged = needed - 10000ull * (4080 - 1488),
                   mapped = 10000ull * 75 + 3500000 + 2 * (170000 + (8ull << 20));
    const struct host_limits exact = {
        .memory_total_bytes = 512ull << 20,
        .memory_available_bytes = needed + reserve,
        .cgroup_limit_bytes = 64ull << 20,
        .cgroup_available_bytes = charged + reserve,
        .address_space_bytes = mapped,
        .thread_stack_bytes = 8ull << 20,
    };
    struct host_limits host = exact;

    (void)state;
    assert_true(preflight_memory_suffices(&host, &own, MEMORY_WATCH_OF_SERVER));
    assert_false(preflight_memory_suffices(&host, &own, MEMORY_WATCH_OF_CLIENT));
    host.memory_available_bytes--;
    assert_false(preflight_memory_suffices(&host, &own, MEMORY_WATCH_OF_SERVER));
    host = exact;
    host.cgroup_available_bytes--;
    assert_false(preflight_memory_suffices(&host, &own, MEMORY_WATCH_OF_SERVER));
    host = exact;
    host.address_space_bytes--;
    assert_false(preflight_memory_suffices(&host, &own, MEMORY_WATCH_OF_SERVER));
    memset(&host, 0xff, sizeof host); /* nothing is known */
    host.cgroup_is_v2 = true;
    assert_true(preflight_memory_suffices(&host, &own, MEMORY_WATCH_OF_SERVER));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tls_needs_memory_for_each_connection),
        cmocka_unit_test(limit_of_a_cgroup_counts_though_there_is_memory),
        cmocka_unit_test(address_space_has_to_hold_own_stacks_and_connections),
        cmocka_unit_test(helper_thread_needs_a_stack),
        cmocka_unit_test(server_elsewhere_needs_no_memory_here),
        cmocka_unit_test(server_needs_memory_for_its_connections),
        cmocka_unit_test(without_connections_there_are_none_to_omit),
        cmocka_unit_test(fewer_connections_are_a_remedy_only_if_one_fits_or_they_need_threads),
        cmocka_unit_test(threads_are_needed_if_they_are_about_as_many_as_the_tables),
        cmocka_unit_test(what_is_available_of_unknown_memory_is_unknown),
        cmocka_unit_test(no_memory_is_available_where_less_than_the_reserve_is_left),
        cmocka_unit_test(memory_suffices_if_no_line_says_stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
