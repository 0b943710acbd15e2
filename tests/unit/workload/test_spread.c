/* SPDX-License-Identifier: MIT
 * test_spread: the connections of each worker. */
#include "workload/spread.h"

#include "base/rng.h"
#include "workload/pacer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_WORKERS = 9, MOST_EACH = 30, ROUNDS = 20000 };

struct example {
    uint32_t n, has[3], expected[3];
};

static void check(const struct example *examples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t wanted[3];

        spread_connections(examples[i].n, 3, examples[i].has, wanted);
        assert_memory_equal(wanted, examples[i].expected, sizeof wanted);
    }
}

static void equal_shares_stay_equal(void **state)
{
    static const struct example examples[] = {{10, {0, 0, 0}, {4, 3, 3}},
                                              {11, {4, 3, 3}, {4, 4, 3}},
                                              {8, {4, 3, 3}, {3, 3, 2}},
                                              {0, {4, 3, 3}, {0, 0, 0}}};

    (void)state;
    check(examples, sizeof examples / sizeof *examples);
}

/* As when memory ran out while they were opened. */
static void workers_that_have_all_connections_keep_them(void **state)
{
    static const struct example examples[] = {{30, {17, 4, 9}, {17, 4, 9}}};

    (void)state;
    check(examples, 1);
}

static void connections_are_opened_where_few_are(void **state)
{
    static const struct example examples[] = {{32, {17, 4, 9}, {17, 6, 9}},
                                              {37, {17, 4, 9}, {17, 10, 10}},
                                              {60, {17, 4, 9}, {20, 20, 20}}};

    (void)state;
    check(examples, sizeof examples / sizeof *examples);
}

static void connections_are_closed_where_many_are(void **state)
{
    static const struct example examples[] = {
        {28, {17, 4, 9}, {15, 4, 9}}, {20, {17, 4, 9}, {8, 4, 8}}, {6, {17, 4, 9}, {2, 2, 2}}};

    (void)state;
    check(examples, sizeof examples / sizeof *examples);
}

/* Changes the number of connections to n: all workers together have room for `most`, and some are
 * open. */
static void check_change(uint32_t most, uint32_t n, uint32_t n_workers, const uint32_t *has)
{
    uint32_t wanted[MOST_WORKERS], n_has = 0, n_wanted = 0;

    spread_connections(n, n_workers, has, wanted);
    for (uint32_t w = 0; w < n_workers; w++) {
        n_has += has[w];
        n_wanted += wanted[w];
    }
    assert_int_equal(n_wanted, n);
    for (uint32_t w = 0; w < n_workers; w++) {
        assert_true(n >= n_has ? wanted[w] >= has[w] : wanted[w] <= has[w]);
        assert_true(wanted[w] <= pacer_connections_of(most, n_workers, w));
        for (uint32_t v = 0; v < n_workers; v++) /* one that changes is not more than one apart */
            if (wanted[w] != has[w])
                assert_true(n >= n_has ? wanted[w] <= wanted[v] + 1 : wanted[w] + 1 >= wanted[v]);
    }
}

static void nothing_is_opened_and_closed_at_once(void **state)
{
    struct rng rng;

    (void)state;
    rng_seed(&rng, 7, 0);
    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t n_workers = 1 + rng_below(&rng, MOST_WORKERS);
        const uint32_t most = rng_below(&rng, n_workers * MOST_EACH + 1);
        uint32_t has[MOST_WORKERS];

        for (uint32_t w = 0; w < n_workers; w++)
            has[w] = rng_below(&rng, pacer_connections_of(most, n_workers, w) + 1);
        check_change(most, rng_below(&rng, most + 1), n_workers, has);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_shares_stay_equal),
        cmocka_unit_test(workers_that_have_all_connections_keep_them),
        cmocka_unit_test(connections_are_opened_where_few_are),
        cmocka_unit_test(connections_are_closed_where_many_are),
        cmocka_unit_test(nothing_is_opened_and_closed_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
