/* SPDX-License-Identifier: MIT
 * test_active: the limit of open connections over all threads. */
#include "server/active.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { THREADS = 4, ROUNDS = 100000, MOST = 3 };

static void limit_is_reached_and_left(void **state)
{
    struct server_config config = {.max_connections = 2};

    (void)state;
    assert_int_equal(server_active_enter(&config), 1);
    assert_int_equal(server_active_enter(&config), 2);
    assert_int_equal(server_active_enter(&config), 0);
    assert_int_equal(server_active_enter(&config), 0);
    server_active_leave(&config);
    assert_int_equal(server_active_enter(&config), 2);
}

static void no_limit_is_never_reached(void **state)
{
    struct server_config config = {.max_connections = 0};

    (void)state;
    for (uint64_t n = 1; n <= 1000; n++)
        assert_int_equal(server_active_enter(&config), n);
}

static void peak_never_falls(void **state)
{
    struct server_config config = {.max_connections = 0};

    (void)state;
    server_active_note_peak(&config, 5);
    server_active_note_peak(&config, 3);
    assert_int_equal(config.n_peak, 5);
}

static void *open_and_close(void *arg)
{
    struct server_config *config = arg;
    uint64_t n;

    for (int i = 0; i < ROUNDS; i++)
        if ((n = server_active_enter(config)) > 0) {
            server_active_note_peak(config, n);
            server_active_leave(config);
        }
    return NULL;
}

static void threads_together_keep_the_limit(void **state)
{
    struct server_config config = {.max_connections = MOST};
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, &config), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(config.n_active, 0);
    assert_in_range(config.n_peak, 1, MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limit_is_reached_and_left),
        cmocka_unit_test(no_limit_is_never_reached),
        cmocka_unit_test(peak_never_falls),
        cmocka_unit_test(threads_together_keep_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
