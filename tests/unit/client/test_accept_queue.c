/* SPDX-License-Identifier: MIT
 * test_client_accept_queue: overflows of the server's queues among those of all programs. */
#include "client/accept_queue.h"

#include "client/worker/config.h"
#include "host/counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t overflows(uint64_t of_all, uint64_t drops)
{
    const struct client_accept_queue before = {100, 10}, after = {of_all, drops};

    return client_accept_queue_overflows(&before, &after);
}

static void overflows_of_other_programs_do_not_count(void **state)
{
    (void)state;
    assert_int_equal(overflows(107, 13), 3);
    assert_int_equal(overflows(107, 10), 0);
    assert_int_equal(overflows(107, 30), 7); /* what the server dropped for other reasons */
}

/* As if the server's address is translated, or it has closed its listeners. */
static void all_count_if_those_of_the_server_are_unknown(void **state)
{
    (void)state;
    assert_int_equal(overflows(107, HOST_COUNTERS_UNKNOWN), 7);
    assert_int_equal(overflows(107, 5), 7); /* it was started again */
}

static void overflows_of_a_server_elsewhere_are_unknown(void **state)
{
    static struct client_config config;
    struct client_accept_queue q;

    (void)state;
    client_accept_queue_read(&q, &config);
    assert_true(q.overflows == HOST_COUNTERS_UNKNOWN && q.drops == HOST_COUNTERS_UNKNOWN);
    assert_true(client_accept_queue_overflows(&q, &q) == HOST_COUNTERS_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overflows_of_other_programs_do_not_count),
        cmocka_unit_test(all_count_if_those_of_the_server_are_unknown),
        cmocka_unit_test(overflows_of_a_server_elsewhere_are_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
