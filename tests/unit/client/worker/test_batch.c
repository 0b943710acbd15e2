/* SPDX-License-Identifier: MIT
 * test_batch: the order in which due queries are queued. */
#include "client/worker/batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { N_CONNECTIONS = 7 };

static struct client_batch batch;
static struct client_batch_query taken[CLIENT_BATCH_MOST];
static uint32_t n_taken;

static void take(void *context, const struct client_batch_query *query)
{
    assert_ptr_equal(context, &batch);
    taken[n_taken++] = *query;
}

/* Query k of n is on connection 5 k modulo 7. */
static void fill(uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        assert_false(client_batch_is_full(&batch));
        *client_batch_next(&batch) =
            (struct client_batch_query){.intended_ns = k, .slot = 5 * k % N_CONNECTIONS};
        client_batch_add(&batch);
    }
}

static int start(void **state)
{
    (void)state;
    n_taken = 0;
    return client_batch_init(&batch, N_CONNECTIONS);
}

static int stop(void **state)
{
    (void)state;
    client_batch_free(&batch);
    return 0;
}

static void few_queries_keep_their_order(void **state)
{
    (void)state;
    fill(100);
    client_batch_take_all(&batch, take, &batch);
    assert_int_equal(n_taken, 100);
    for (uint32_t k = 0; k < n_taken; k++)
        assert_int_equal(taken[k].intended_ns, k);
}

static void assert_sorted(uint32_t n)
{
    assert_int_equal(n_taken, n);
    for (uint32_t k = 1; k < n; k++) {
        const struct client_batch_query *q = &taken[k], *before = &taken[k - 1];

        assert_int_equal(q->slot, 5 * q->intended_ns % N_CONNECTIONS); /* as it was added */
        assert_true(before->slot < q->slot ||
                    (before->slot == q->slot && before->intended_ns < q->intended_ns));
    }
    assert_int_equal(taken[0].slot, 0);
    assert_int_equal(taken[n - 1].slot, N_CONNECTIONS - 1);
}

static void many_come_connection_by_connection_each_in_order(void **state)
{
    (void)state;
    fill(5000);
    client_batch_take_all(&batch, take, &batch);
    assert_sorted(5000);
}

static void a_full_batch_can_be_filled_again(void **state)
{
    (void)state;
    fill(CLIENT_BATCH_MOST);
    assert_true(client_batch_is_full(&batch));
    client_batch_take_all(&batch, take, &batch);
    assert_sorted(CLIENT_BATCH_MOST);
    n_taken = 0;
    fill(4000);
    client_batch_take_all(&batch, take, &batch);
    assert_sorted(4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(few_queries_keep_their_order, start, stop),
        cmocka_unit_test_setup_teardown(many_come_connection_by_connection_each_in_order, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_full_batch_can_be_filled_again, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
