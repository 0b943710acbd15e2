/* SPDX-License-Identifier: MIT
 * test_query_dns: the bytes of a query and the forms of an answer. */
#include "query_dns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DNS = 0, LONGEST_NAME = 300 };

static struct query q;
static char error[QUERY_ERROR_BYTES];

static void query_for_example_com_is_31_known_bytes(void **state)
{
    static const uint8_t wanted[31] = {0, 0x1d, 0xab, 0xcd, 0x01, 0,   0,   1,   0,   0,   0,
                                       0, 0,    0,    7,    'e',  'x', 'a', 'm', 'p', 'l', 'e',
                                       3, 'c',  'o',  'm',  0,    0,   1,   0,   1};
    uint8_t out[31];

    (void)state;
    assert_int_equal(query_init(&q, DNS, NULL, 0, error), 0);
    assert_int_equal(q.n_bytes, sizeof wanted);
    query_encode(&q, 0xabcd, out);
    assert_memory_equal(out, wanted, sizeof wanted);
    query_free(&q);
}

static void name_may_end_with_a_dot_and_may_be_the_root(void **state)
{
    static const uint8_t root[19] = {0, 17, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1};
    uint8_t out[31];

    (void)state;
    assert_int_equal(query_init(&q, DNS, "example.com.", 0, error), 0);
    assert_int_equal(q.n_bytes, 31);
    query_encode(&q, 0, out);
    assert_memory_equal(out + 14, "\7example\3com\0\0\1\0\1", 17);
    query_free(&q);
    assert_int_equal(query_init(&q, DNS, ".", 0, error), 0);
    assert_int_equal(q.n_bytes, sizeof root);
    assert_memory_equal(q.bytes, root, sizeof root);
    query_free(&q);
}

/* A name of labels of the given length that takes n_bytes in a query, with its final zero. */
static void make_name(char name[LONGEST_NAME], size_t label, size_t n_bytes)
{
    size_t n = 0;

    for (size_t left = n_bytes - 1; left > 0;) {
        size_t take = left - 1 < label ? left - 1 : label;

        memset(name + n, 'a', take);
        n += take;
        left -= take + 1;
        if (left > 0)
            name[n++] = '.';
    }
    name[n] = '\0';
}

static void labels_have_63_bytes_and_names_255(void **state)
{
    char name[LONGEST_NAME];

    (void)state;
    make_name(name, 63, 65);
    assert_int_equal(strlen(name), 63);
    assert_int_equal(query_init(&q, DNS, name, 0, error), 0);
    query_free(&q);
    make_name(name, 64, 66);
    assert_int_equal(strlen(name), 64);
    assert_int_equal(query_init(&q, DNS, name, 0, error), -1);
    assert_non_null(strstr(error, "--qname"));
    assert_non_null(strstr(error, "aaaa"));
    make_name(name, 49, 255);
    assert_int_equal(query_init(&q, DNS, name, 0, error), 0);
    assert_int_equal(q.n_bytes, 2 + 12 + 255 + 4);
    query_free(&q);
    make_name(name, 49, 256);
    assert_int_equal(query_init(&q, DNS, name, 0, error), -1);
}

static void empty_labels_are_refused(void **state)
{
    static const char *const bad[] = {"", "..", "a..b", ".a", "a.."};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (query_init(&q, DNS, bad[i], 0, error) == 0)
            fail_msg("'%s' is accepted", bad[i]);
}

/* One answer of so many bytes, with id 7. */
static enum query_event feed(size_t length)
{
    struct query_stream stream = {0};
    uint8_t *bytes = calloc(1, length + 5);
    struct query_input in = {bytes, length + 2 > 5 ? length + 2 : 5};
    enum query_event event;

    assert_non_null(bytes);
    bytes[0] = (uint8_t)(length >> 8);
    bytes[1] = (uint8_t)length;
    bytes[3] = 7;
    assert_int_equal(query_init(&q, DNS, NULL, 0, error), 0);
    event = query_next(&q, &stream, &in);
    if (event == QUERY_REPLY) {
        assert_int_equal(stream.id, 7);
        assert_int_equal(in.n_bytes, 0);
    }
    query_free(&q);
    free(bytes);
    return event;
}

static void answer_has_at_least_a_header_and_at_most_65535_bytes(void **state)
{
    (void)state;
    assert_int_equal(feed(0), QUERY_MALFORMED);
    assert_int_equal(feed(1), QUERY_MALFORMED);
    assert_int_equal(feed(11), QUERY_MALFORMED);
    assert_int_equal(feed(12), QUERY_REPLY);
    assert_int_equal(feed(65535), QUERY_REPLY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(query_for_example_com_is_31_known_bytes),
        cmocka_unit_test(name_may_end_with_a_dot_and_may_be_the_root),
        cmocka_unit_test(labels_have_63_bytes_and_names_255),
        cmocka_unit_test(empty_labels_are_refused),
        cmocka_unit_test(answer_has_at_least_a_header_and_at_most_65535_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
