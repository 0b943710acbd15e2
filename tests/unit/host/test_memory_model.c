/* SPDX-License-Identifier: MIT
 * test_memory_model: sums of the constants, compared with measurements. */
#include "host/memory_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_within_3_percent(uint64_t predicted, uint64_t measured)
{
    assert_in_range(predicted, measured / 100 * 97, measured / 100 * 103);
}

/* Linux 6.18: decrease of MemFree, and the charge of a version 1 cgroup. */
static void measured_runs_are_predicted_within_3_percent(void **state)
{
    const struct memory_ends of_100k = {100000, 100000, 6, 6, false, false, false,
                                        0,      0,      0, 0, false, 0},
                             of_300k = {300000, 300000, 16, 16, false, false, false,
                                        0,      0,      0,  0,  false, 0},
                             client_100k = {100000, 0, 6, 0, false, false, false,
                                            0,      0, 0, 0, false, 0},
                             server_100k = {0, 100000, 0, 6, false, false, false,
                                            0, 0,      0, 0, false, 0};

    (void)state;
    assert_within_3_percent(memory_model_bytes(&of_100k, MEMORY_OF_MACHINE), 838100000);
    assert_within_3_percent(memory_model_bytes(&of_100k, MEMORY_OF_CGROUP_V1), 580513792);
    assert_within_3_percent(memory_model_bytes(&of_300k, MEMORY_OF_CGROUP_V1), 1685782528);
    assert_within_3_percent(memory_model_bytes(&client_100k, MEMORY_OF_CGROUP_V1), 409960448);
    assert_within_3_percent(memory_model_bytes(&server_100k, MEMORY_OF_CGROUP_V1), 157425664);
}

static void a_udp_socket_takes_less_than_a_connection(void **state)
{
    const struct memory_ends tcp = {1000, 0, 2, 0, false, false, false, 0, 0, 0, 0, false, 0},
                             udp = {1000, 0, 2, 0, false, true, false, 0, 0, 0, 0, false, 0};

    (void)state;
    assert_int_equal(memory_model_connection_bytes(&udp, MEMORY_OF_MACHINE), 2900 + 95);
    assert_true(memory_model_bytes(&udp, MEMORY_OF_MACHINE) <
                memory_model_bytes(&tcp, MEMORY_OF_MACHINE));
    assert_int_equal(memory_model_bytes(&udp, MEMORY_OF_PROCESS),
                     memory_model_bytes(&tcp, MEMORY_OF_PROCESS));
}

static void end_that_is_elsewhere_takes_nothing(void **state)
{
    const struct memory_ends client = {1000, 0, 2, 2, false, false, false, 0, 0, 0, 0, false, 0},
                             server = {0, 1000, 2, 2, false, false, false, 0, 0, 0, 0, false, 0},
                             both = {1000, 1000, 2, 2, false, false, false, 0, 0, 0, 0, false, 0},
                             neither = {0, 0, 2, 2, false, false, false, 0, 0, 0, 0, false, 0};

    (void)state;
    assert_int_equal(memory_model_bytes(&neither, MEMORY_OF_MACHINE), 0);
    assert_int_equal(memory_model_connection_bytes(&neither, MEMORY_OF_MACHINE), 0);
    for (enum memory_account a = MEMORY_OF_MACHINE; a <= MEMORY_OF_PROCESS; a++) {
        assert_int_equal(memory_model_bytes(&client, a) + memory_model_bytes(&server, a),
                         memory_model_bytes(&both, a));
        assert_int_equal(memory_model_connection_bytes(&client, a) +
                             memory_model_connection_bytes(&server, a),
                         memory_model_connection_bytes(&both, a));
    }
}

/* Its table has at most 24 bytes per connection. */
static void counting_sources_takes_memory_of_the_server(void **state)
{
    const struct memory_ends without = {1000, 1000, 2, 2, false, false, false,
                                        0,    0,    0, 0, false, 0},
                             with = {1000, 1000, 2, 2, false, false, true, 0, 0, 0, 0, false, 0},
                             client = {1000, 0, 2, 0, false, false, true, 0, 0, 0, 0, false, 0};

    (void)state;
    for (enum memory_account a = MEMORY_OF_MACHINE; a <= MEMORY_OF_PROCESS; a++)
        assert_int_equal(memory_model_bytes(&with, a) - memory_model_bytes(&without, a), 1000 * 24);
    assert_int_equal(memory_model_connection_bytes(&client, MEMORY_OF_PROCESS), 95);
}

/* A timer of libevent each. */
static void closing_idle_connections_takes_memory_of_the_server(void **state)
{
    const struct memory_ends without = {1000, 1000, 2, 2, false, false, false,
                                        0,    0,    0, 0, false, 0},
                             with = {1000, 1000, 2, 2, false, false, false, 0, 0, 0, 0, true, 0};

    (void)state;
    for (enum memory_account a = MEMORY_OF_MACHINE; a <= MEMORY_OF_PROCESS; a++)
        assert_int_equal(memory_model_bytes(&with, a) - memory_model_bytes(&without, a),
                         1000 * 144);
}

/* Of --connections-out, say; its table is mapped at once, and touched as connections are opened. */
static void a_record_of_each_connection_is_the_clients(void **state)
{
    struct memory_ends ends = {
        .client_connections = 1000, .server_connections = 500, .client_threads = 1};

    (void)state;
    for (int account = MEMORY_OF_MACHINE; account <= MEMORY_OF_PROCESS; account++) {
        uint64_t without, each;

        ends.client_kept_bytes = 0;
        without = memory_model_bytes(&ends, (enum memory_account)account);
        each = memory_model_connection_bytes(&ends, (enum memory_account)account);
        ends.client_kept_bytes = 144;
        assert_int_equal(memory_model_bytes(&ends, (enum memory_account)account) - without,
                         1000 * 144);
        assert_int_equal(memory_model_connection_bytes(&ends, (enum memory_account)account) - each,
                         144);
    }
}

static void address_space_is_what_is_mapped_though_not_touched(void **state)
{
    const uint64_t of_2 = 1000 * 95 + 2 * 11600000ull + 13000000;
    struct memory_ends ends = {.client_connections = 1000, .client_threads = 2};

    (void)state;
    assert_int_equal(memory_model_bytes(&ends, MEMORY_OF_PROCESS), of_2);
    ends.client_classes = 8;
    assert_int_equal(memory_model_bytes(&ends, MEMORY_OF_PROCESS), of_2 + 3 * 8 * 1110000);
    ends.client_rows_bytes = 64 << 20;
    ends.client_in_flight_bytes = 1000;
    assert_int_equal(memory_model_bytes(&ends, MEMORY_OF_PROCESS),
                     of_2 + 3 * 8 * 1110000 + (64 << 20) + 1000);
    assert_int_equal(memory_model_bytes(&ends, MEMORY_OF_CGROUP_V2),
                     1000 * 4175 + 2 * 420000 + 1500000);
    assert_int_equal(memory_model_program_bytes(&ends), 2 * 380000 + 1500000);
    ends.client_touched_rows_bytes = 1 << 20;
    assert_int_equal(memory_model_bytes(&ends, MEMORY_OF_CGROUP_V2),
                     1000 * 4175 + 2 * 420000 + 1500000 + (1 << 20));
    assert_int_equal(memory_model_program_bytes(&ends), 2 * 380000 + 1500000 + (1 << 20));
    assert_int_equal(memory_model_bytes(&ends, MEMORY_OF_PROCESS),
                     of_2 + 3 * 8 * 1110000 + (64 << 20) + 1000);
}

static void each_connection_adds_the_same(void **state)
{
    const struct memory_ends few = {1000, 1000, 2, 2, true, false, false, 0, 0, 0, 0, false, 0},
                             more = {1001, 1001, 2, 2, true, false, false, 0, 0, 0, 0, false, 0};

    (void)state;
    for (enum memory_account a = MEMORY_OF_MACHINE; a <= MEMORY_OF_PROCESS; a++)
        assert_int_equal(memory_model_bytes(&more, a) - memory_model_bytes(&few, a),
                         memory_model_connection_bytes(&few, a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_runs_are_predicted_within_3_percent),
        cmocka_unit_test(a_udp_socket_takes_less_than_a_connection),
        cmocka_unit_test(end_that_is_elsewhere_takes_nothing),
        cmocka_unit_test(counting_sources_takes_memory_of_the_server),
        cmocka_unit_test(closing_idle_connections_takes_memory_of_the_server),
        cmocka_unit_test(a_record_of_each_connection_is_the_clients),
        cmocka_unit_test(address_space_is_what_is_mapped_though_not_touched),
        cmocka_unit_test(each_connection_adds_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
