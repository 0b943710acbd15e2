/* SPDX-License-Identifier: MIT
 * test_query: properties of every protocol. */
#include "protocol/query.h"
#include "protocol/query_init.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ANSWERS = 5 };

/* The answers of an echo server, except for ping. */
static void make_answers(const struct query *q, uint8_t *out)
{
    for (int i = 0; i < ANSWERS; i++) {
        query_encode(q, 0, (uint16_t)(1000 + i), out + (size_t)i * q->n_bytes);
        if (strcmp(q->protocol->name, "ping") == 0)
            memcpy(out + (size_t)i * q->n_bytes, "Pong", 4);
    }
}

static void names_are_those_of_the_option(void **state)
{
    static const char *const names[] = {"dns", "ping", "echo"};
    char error[QUERY_ERROR_BYTES];
    struct query q;

    (void)state;
    assert_string_equal(QUERY_PROTOCOLS, "dns|ping|echo");
    for (enum query_kind p = 0; p < QUERY_N_KINDS; p++) {
        assert_int_equal(query_init(&q, p, &(struct query_ask){0}, error), 0);
        assert_string_equal(q.protocol->name, names[p]);
        query_free(&q);
    }
}

static void answers_are_found_however_the_stream_is_cut(void **state)
{
    char error[QUERY_ERROR_BYTES];

    (void)state;
    for (enum query_kind p = 0; p < QUERY_N_KINDS; p++) {
        struct query q;
        uint8_t *answers;
        size_t n_bytes;

        assert_int_equal(query_init(&q, p, &(struct query_ask){0}, error), 0);
        n_bytes = ANSWERS * q.n_bytes;
        answers = malloc(n_bytes);
        assert_non_null(answers);
        make_answers(&q, answers);
        for (size_t piece = 1; piece <= n_bytes; piece++) {
            struct query_stream stream = {0};
            int found = 0;

            for (size_t at = 0; at < n_bytes; at += piece) {
                struct query_input in = {answers + at, n_bytes - at < piece ? n_bytes - at : piece};

                while (query_next(&q, &stream, &in) == QUERY_REPLY) {
                    if (q.protocol->has_id)
                        assert_int_equal(stream.id, 1000 + found);
                    found++;
                }
                assert_int_equal(in.n_bytes, 0);
            }
            assert_int_equal(found, ANSWERS);
        }
        free(answers);
        query_free(&q);
    }
}

static void no_input_is_no_answer(void **state)
{
    char error[QUERY_ERROR_BYTES];

    (void)state;
    for (enum query_kind p = 0; p < QUERY_N_KINDS; p++) {
        struct query_stream stream = {0};
        struct query_input in = {(const uint8_t *)"", 0};
        struct query q;

        assert_int_equal(query_init(&q, p, &(struct query_ask){0}, error), 0);
        assert_int_equal(query_next(&q, &stream, &in), QUERY_MORE);
        query_free(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_the_option),
        cmocka_unit_test(answers_are_found_however_the_stream_is_cut),
        cmocka_unit_test(no_input_is_no_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
