/* SPDX-License-Identifier: MIT
 * test_client_class: classes and workers share the connections without gap or overlap. */
#include "client/worker/class.h"

#include "workload/arrivals.h"
#include "workload/pacer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N_CLASSES = 4 };

/* Sizes of the classes; some are smaller than the number of workers. */
static const uint32_t sizes[][N_CLASSES] = {
    {1, 1, 1, 1}, {70, 30, 1, 2}, {7, 3, 1, 5}, {1, 1000, 1, 999}, {64, 64, 64, 64}};

static void make(struct client_class classes[N_CLASSES], const uint32_t size[N_CLASSES])
{
    uint32_t n_before = 0;

    for (int k = 0; k < N_CLASSES; k++) {
        classes[k] = (struct client_class){.n_before = n_before, .n_connections = size[k]};
        n_before += size[k];
    }
}

static void check_workers(const struct client_class *classes, uint32_t n, uint32_t n_workers)
{
    for (uint32_t w = 0; w < n_workers; w++) {
        uint32_t next = 0;

        for (int k = 0; k < N_CLASSES; k++) {
            assert_int_equal(client_class_first_slot(&classes[k], n_workers, w), next);
            for (uint32_t i = client_class_n_slots(&classes[k], n_workers, w); i > 0; i--)
                assert_ptr_equal(
                    client_class_of_slot(classes, N_CLASSES, n_workers, w, next + i - 1),
                    &classes[k]);
            next += client_class_n_slots(&classes[k], n_workers, w);
        }
        assert_int_equal(next, pacer_connections_of(n, n_workers, w));
    }
}

/* The worker has as many slots as its position says, and every position is taken once. */
static void check_places(const struct client_class *class, uint32_t n_workers)
{
    uint64_t seen = 0;

    for (uint32_t w = 0; w < n_workers; w++) {
        const uint32_t position = client_class_position(class, n_workers, w);

        assert_in_range(position, 0, n_workers - 1);
        assert_int_equal(seen & 1ull << position, 0);
        seen |= 1ull << position;
        assert_int_equal(client_class_n_slots(class, n_workers, w),
                         arrivals_first_connection(class->n_connections, n_workers, position + 1) -
                             arrivals_first_connection(class->n_connections, n_workers, position));
    }
}

static void every_slot_of_every_worker_is_of_one_class(void **state)
{
    struct client_class classes[N_CLASSES];

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t n = 0;

        make(classes, sizes[i]);
        for (int k = 0; k < N_CLASSES; k++)
            n += sizes[i][k];
        for (uint32_t n_workers = 1; n_workers <= n && n_workers <= 16; n_workers++)
            check_workers(classes, n, n_workers);
    }
}

static void workers_share_each_class_evenly(void **state)
{
    struct client_class classes[N_CLASSES];

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        make(classes, sizes[i]);
        for (uint32_t n_workers = 1; n_workers <= 16; n_workers++)
            for (int k = 0; k < N_CLASSES; k++)
                check_places(&classes[k], n_workers);
    }
}

static void a_metric_has_the_name_of_its_class(void **state)
{
    const struct client_class class = {.name = "abcdefghijklmnop"};
    char text[CLIENT_CLASS_METRIC_BYTES];

    (void)state;
    assert_string_equal(client_class_metric(text, "response", &class), "response:abcdefghijklmnop");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_slot_of_every_worker_is_of_one_class),
        cmocka_unit_test(workers_share_each_class_evenly),
        cmocka_unit_test(a_metric_has_the_name_of_its_class),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
