/* SPDX-License-Identifier: MIT
 * test_server_tally: sums over workers. */
#include "server/tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void merging_adds_every_count(void **state)
{
    static struct server_tally a, b;
    tally_count *to = (tally_count *)&a, *from = (tally_count *)&b;
    const size_t n = sizeof a / sizeof *to;

    (void)state;
    for (size_t i = 0; i < n; i++) {
        tally_add(&to[i], i);
        tally_add(&from[i], 1000 * i);
    }
    server_tally_merge(&a, &b);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tally_get(&to[i]), 1001 * i);
}

static void active_is_accepted_and_not_closed(void **state)
{
    static struct server_tally t;

    (void)state;
    assert_int_equal(server_tally_active(&t), 0);
    tally_add(&t.accepted, 5);
    tally_add(&t.n_closed, 2);
    tally_add(&t.n_refused, 9);
    assert_int_equal(server_tally_active(&t), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_adds_every_count),
        cmocka_unit_test(active_is_accepted_and_not_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
