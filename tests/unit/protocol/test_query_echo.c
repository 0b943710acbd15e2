/* SPDX-License-Identifier: MIT
 * test_query_echo: unchanged and changed messages. */
#include "protocol/query_echo.h"
#include "protocol/query_init.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct query q;
static char error[QUERY_ERROR_BYTES];

static void size_is_64_bytes_unless_requested_otherwise(void **state)
{
    static const size_t sizes[][2] = {{0, 64}, {1, 1}, {1000, 1000}, {65536, 65536}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(
            query_init(&q, QUERY_ECHO, &(struct query_ask){.size_bytes = sizes[i][0]}, error), 0);
        assert_int_equal(q.n_bytes, sizes[i][1]);
        query_free(&q);
    }
    assert_int_equal(query_init(&q, QUERY_ECHO, &(struct query_ask){.size_bytes = 65537}, error),
                     -1);
    assert_non_null(strstr(error, "65537"));
}

static void a_different_byte_is_malformed_wherever_it_is(void **state)
{
    (void)state;
    assert_int_equal(query_init(&q, QUERY_ECHO, &(struct query_ask){.size_bytes = 300}, error), 0);
    for (size_t i = 0; i < q.n_bytes; i++) {
        struct query_stream stream = {0};
        uint8_t bytes[300];
        struct query_input in = {bytes, sizeof bytes};

        query_encode(&q, 0, 0, bytes);
        bytes[i] ^= 1;
        assert_int_equal(query_next(&q, &stream, &in), QUERY_MALFORMED);
    }
    query_free(&q);
}

static void shifted_bytes_are_malformed(void **state)
{
    uint8_t bytes[600];

    (void)state;
    assert_int_equal(query_init(&q, QUERY_ECHO, &(struct query_ask){.size_bytes = 300}, error), 0);
    query_encode(&q, 0, 0, bytes);
    query_encode(&q, 0, 0, bytes + 300);
    assert_int_equal(bytes[0], 7);
    assert_int_equal(bytes[1], 131 + 7);
    assert_int_equal(bytes[256], 17 + 7); /* 256 * 131 is 0 in a byte */
    for (size_t i = 1; i < 300; i++) {
        struct query_stream stream = {0};
        struct query_input in = {bytes + i, sizeof bytes - i};

        assert_int_equal(query_next(&q, &stream, &in), QUERY_MALFORMED);
    }
    query_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_is_64_bytes_unless_requested_otherwise),
        cmocka_unit_test(a_different_byte_is_malformed_wherever_it_is),
        cmocka_unit_test(shifted_bytes_are_malformed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
