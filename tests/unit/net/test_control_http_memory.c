/* SPDX-License-Identifier: MIT
 * test_control_http_memory: a start for which libevent has no memory. */
#include "net/control_http.h"

#include "directory_steps.h"

#include <event2/event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static enum control_status answer(void *context, const struct control_request *q,
                                  struct control_reply *reply)
{
    (void)context;
    (void)q;
    (void)reply;
    return CONTROL_OK;
}

static const struct control_token no_token;
static long n_blocks;            /* that libevent has */
static int n_until_failure = -1; /* allocations; -1: none fails */

static bool fails(void)
{
    return n_until_failure >= 0 && n_until_failure-- == 0;
}

static void *allocate(size_t n)
{
    void *block = fails() ? NULL : malloc(n);

    n_blocks += block != NULL;
    return block;
}

static void *reallocate(void *old, size_t n)
{
    void *block = fails() ? NULL : realloc(old, n);

    n_blocks += old == NULL && block != NULL;
    return block;
}

static void release(void *block)
{
    n_blocks -= block != NULL;
    free(block);
}

/* Starts the server out of memory at its allocation number n.  Returns whether that failed. */
static bool starts_without(int n)
{
    struct event_base *base = event_base_new();
    char where[CONTROL_SOCKET_ERROR_BYTES], error[CONTROL_SOCKET_ERROR_BYTES];
    struct control_socket listening;
    struct control_http *http;
    bool has_failed;

    assert_non_null(base);
    snprintf(where, sizeof where, "unix:%s/c", directory);
    assert_int_equal(control_socket_listen(&listening, where, false, error), 0);
    n_until_failure = n;
    http = control_http_start(base, &listening, &no_token, ~0u, answer, NULL);
    n_until_failure = -1;
    has_failed = http == NULL;
    control_http_end(http);
    control_socket_close(&listening);
    event_base_free(base);
    return has_failed;
}

static void without_memory_it_starts_not_and_leaves_nothing(void **state)
{
    char path[sizeof directory + 2];
    int n_failed = 0;

    (void)state;
    snprintf(path, sizeof path, "%s/c", directory);
    event_set_mem_functions(allocate, reallocate, release);
    n_blocks = 0;
    for (int n = 0; n < 30; n++) {
        n_failed += starts_without(n);
        assert_int_equal(n_blocks, 0);
        assert_true(access(path, F_OK) != 0);
    }
    assert_in_range(n_failed, 4, 29);
    event_set_mem_functions(NULL, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_it_starts_not_and_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
