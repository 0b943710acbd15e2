/* SPDX-License-Identifier: MIT
 * test_query_dns: the bytes of a query and the forms of an answer. */
#include "query_dns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DNS = 0 };

static struct query q;
static char error[QUERY_ERROR_BYTES];

static void query_for_example_com_is_31_known_bytes(void **state)
{
    static const uint8_t wanted[31] = {0, 0x1d, 0xab, 0xcd, 0x01, 0,   0,   1,   0,   0,   0,
                                       0, 0,    0,    7,    'e',  'x', 'a', 'm', 'p', 'l', 'e',
                                       3, 'c',  'o',  'm',  0,    0,   1,   0,   1};
    uint8_t out[31];

    (void)state;
    assert_int_equal(query_init(&q, DNS, &(struct query_ask){0}, error), 0);
    assert_int_equal(q.n_bytes, sizeof wanted);
    query_encode(&q, 0xabcd, out);
    assert_memory_equal(out, wanted, sizeof wanted);
    query_free(&q);
}

static void name_is_the_one_asked_for(void **state)
{
    static const uint8_t root[19] = {0, 17, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1};

    (void)state;
    assert_int_equal(query_init(&q, DNS, &(struct query_ask){.qname = "example.com."}, error), 0);
    assert_int_equal(q.n_bytes, 31);
    assert_memory_equal(q.bytes + 14, "\7example\3com\0\0\1\0\1", 17);
    query_free(&q);
    assert_int_equal(query_init(&q, DNS, &(struct query_ask){.qname = "."}, error), 0);
    assert_int_equal(q.n_bytes, sizeof root);
    assert_memory_equal(q.bytes, root, sizeof root);
    query_free(&q);
}

static void type_is_the_one_asked_for(void **state)
{
    (void)state;
    assert_int_equal(query_init(&q, DNS, &(struct query_ask){.qtype = "TYPE258"}, error), 0);
    assert_memory_equal(q.bytes + q.n_bytes - 4, "\1\2\0\1", 4);
    query_free(&q);
}

static void bad_names_and_types_are_refused_with_their_option(void **state)
{
    (void)state;
    assert_int_equal(query_init(&q, DNS, &(struct query_ask){.qname = "a..b"}, error), -1);
    assert_non_null(strstr(error, "--qname: 'a..b'"));
    assert_int_equal(query_init(&q, DNS, &(struct query_ask){.qtype = "TYPE"}, error), -1);
    assert_non_null(strstr(error, "--qtype: 'TYPE'"));
}

static void edns_is_what_was_asked(void **state)
{
    const struct query_ask ask = {.edns = {.udp_bytes = 512, .padding_bytes = 64, .dnssec = true}};

    (void)state;
    assert_int_equal(query_init(&q, DNS, &ask, error), 0);
    assert_int_equal(q.n_bytes, 2 + 64);
    assert_memory_equal(q.bytes + 31, "\0\0\x29\2\0\0\0\x80\0\0\x18\0\x0c\0\x14", 15);
    query_free(&q);
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
    assert_int_equal(query_init(&q, DNS, &(struct query_ask){0}, error), 0);
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
        cmocka_unit_test(name_is_the_one_asked_for),
        cmocka_unit_test(type_is_the_one_asked_for),
        cmocka_unit_test(bad_names_and_types_are_refused_with_their_option),
        cmocka_unit_test(edns_is_what_was_asked),
        cmocka_unit_test(answer_has_at_least_a_header_and_at_most_65535_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
