/* SPDX-License-Identifier: MIT
 * test_query_dns: the bytes of a query and the forms of an answer. */
#include "protocol/query_dns.h"
#include "protocol/query_init.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct query q;
static char error[QUERY_ERROR_BYTES];

static void query_for_example_com_is_31_known_bytes(void **state)
{
    static const uint8_t wanted[31] = {0, 0x1d, 0xab, 0xcd, 0x01, 0,   0,   1,   0,   0,   0,
                                       0, 0,    0,    7,    'e',  'x', 'a', 'm', 'p', 'l', 'e',
                                       3, 'c',  'o',  'm',  0,    0,   1,   0,   1};
    uint8_t out[31];

    (void)state;
    assert_int_equal(query_init(&q, QUERY_DNS, &(struct query_ask){0}, error), 0);
    assert_int_equal(q.n_bytes, sizeof wanted);
    query_encode(&q, 0, 0xabcd, out);
    assert_memory_equal(out, wanted, sizeof wanted);
    query_free(&q);
}

static void name_is_the_requested_one(void **state)
{
    static const uint8_t root[19] = {0, 17, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1};

    (void)state;
    assert_int_equal(query_init(&q, QUERY_DNS, &(struct query_ask){.qname = "example.com."}, error),
                     0);
    assert_int_equal(q.n_bytes, 31);
    assert_memory_equal(q.bytes + 14, "\7example\3com\0\0\1\0\1", 17);
    query_free(&q);
    assert_int_equal(query_init(&q, QUERY_DNS, &(struct query_ask){.qname = "."}, error), 0);
    assert_int_equal(q.n_bytes, sizeof root);
    assert_memory_equal(q.bytes, root, sizeof root);
    query_free(&q);
}

static void type_is_the_requested_one(void **state)
{
    (void)state;
    assert_int_equal(query_init(&q, QUERY_DNS, &(struct query_ask){.qtype = "TYPE258"}, error), 0);
    assert_memory_equal(q.bytes + q.n_bytes - 4, "\1\2\0\1", 4);
    query_free(&q);
}

static void bad_names_and_types_are_refused_with_their_option(void **state)
{
    (void)state;
    assert_int_equal(query_init(&q, QUERY_DNS, &(struct query_ask){.qname = "a..b"}, error), -1);
    assert_non_null(strstr(error, "--qname: invalid domain name 'a..b'"));
    assert_int_equal(query_init(&q, QUERY_DNS, &(struct query_ask){.qtype = "TYPE"}, error), -1);
    assert_non_null(strstr(error, "--qtype: invalid type 'TYPE'"));
}

static void edns_is_as_requested(void **state)
{
    const struct query_ask ask = {.edns = {.udp_bytes = 512, .padding_bytes = 64, .dnssec = true}};

    (void)state;
    assert_int_equal(query_init(&q, QUERY_DNS, &ask, error), 0);
    assert_int_equal(q.n_bytes, 2 + 64);
    assert_memory_equal(q.bytes + 31, "\0\0\x29\2\0\0\0\x80\0\0\x18\0\x0c\0\x14", 15);
    query_free(&q);
}

/* --- files --- */

static int init_from(const char *text, const char *qtype)
{
    const struct query_ask ask = {.qtype = qtype, .lines = {"names", text, strlen(text)}};

    return query_init(&q, QUERY_DNS, &ask, error);
}

/* The name and type of a query of a file: "\3www\0" has 5 bytes. */
static void assert_question(size_t at, const char *name, size_t n_name, uint8_t type)
{
    uint8_t out[DNS_MESSAGE_BYTES];

    assert_int_equal(query_size(&q, at), 2 + 12 + n_name + 4);
    query_encode(&q, at, 0x1234, out);
    assert_memory_equal(out + 2, "\x12\x34\1\0\0\1", 6);
    assert_memory_equal(out + 14, name, n_name);
    assert_int_equal(out[14 + n_name + 1], type);
}

static void lines_of_a_file_are_queries_in_their_order_again_and_again(void **state)
{
    size_t at = 0;

    (void)state;
    assert_int_equal(init_from("; names\na.b AAAA\nc\n\nlonger.name.example. mx\n", "TXT"), 0);
    assert_int_equal(q.n_queries, 3);
    for (int round = 0; round < 3; round++) {
        assert_question(at, "\1a\1b", 5, 28);
        at = query_after(&q, at);
        assert_question(at, "\1c", 3, 16);
        at = query_after(&q, at);
        assert_question(at, "\6longer\4name\7example", 21, 15);
        at = query_after(&q, at);
        assert_int_equal(at, 0);
    }
    assert_int_equal(query_at(&q, 0), 0);
    assert_question(query_at(&q, 1), "\1c", 3, 16);
    assert_question(query_at(&q, 2), "\6longer\4name\7example", 21, 15);
    query_free(&q);
}

static void one_line_is_one_query(void **state)
{
    (void)state;
    assert_int_equal(init_from("a.b", NULL), 0);
    assert_int_equal(q.n_queries, 1);
    assert_question(0, "\1a\1b", 5, 1);
    assert_int_equal(query_after(&q, 0), 0);
    query_free(&q);
}

static void queries_of_a_large_file_are_all_there(void **state)
{
    enum { N = 20000, LINE = 16 };
    char *text = calloc(N, LINE + 1), word[32];
    size_t at = 0;

    (void)state;
    assert_non_null(text);
    for (int i = 0; i < N; i++) {
        snprintf(word, sizeof word, "n%09d TXT \n", i);
        memcpy(text + (size_t)i * LINE, word, LINE);
    }
    assert_int_equal(init_from(text, NULL), 0);
    assert_int_equal(q.n_queries, N);
    assert_int_equal(q.n_bytes, N * (2 + 12 + 12 + 4));
    for (int i = 0; i < N; i++) {
        snprintf(word, sizeof word, "\nn%09d", i);
        assert_memory_equal(q.bytes + at + 14, word, 12);
        at = query_after(&q, at);
    }
    assert_int_equal(at, 0);
    query_free(&q);
    free(text);
}

static void queries_of_a_file_may_be_padded_to_the_largest_block(void **state)
{
    const struct query_ask ask = {.edns = {.padding_bytes = DNS_MESSAGE_PADDING_BYTES},
                                  .lines = {"names", "a\nb\nc\nd\ne\n", 10}};
    uint8_t out[DNS_MESSAGE_BYTES];

    (void)state;
    assert_int_equal(query_init(&q, QUERY_DNS, &ask, error), 0);
    assert_int_equal(q.n_bytes, 5 * (2 + DNS_MESSAGE_PADDING_BYTES));
    for (size_t i = 0; i < 5; i++) {
        query_encode(&q, query_at(&q, i), 0, out);
        assert_int_equal(out[2 + 12 + 1], 'a' + (int)i);
    }
    query_free(&q);
}

static void bad_line_is_named_with_file_and_line(void **state)
{
    static const struct {
        const char *text, *named;
    } bad[] = {
        {"a A\n\nb..c A\n", "names:3: invalid domain name 'b..c'"},
        {"a A\n; x\nb BOGUS\n", "names:3: invalid type 'BOGUS'"},
        {"a IN A\n", "names:1: more than two"},
        {"a A\n# no comment\n", "names:2: more than"},
        {"", "names: no query"},
        {"; nothing\n\n", "names: no query"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(init_from(bad[i].text, NULL), -1);
        if (strstr(error, bad[i].named) == NULL || strstr(error, "expected") == NULL)
            fail_msg("'%s' is not in '%s'", bad[i].named, error);
    }
    assert_int_equal(init_from("a A\n", "BOGUS"), -1);
    assert_non_null(strstr(error, "--qtype: invalid type 'BOGUS'"));
}

/* --- answers --- */

/* One answer of this many bytes, with id 7. */
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
    assert_int_equal(query_init(&q, QUERY_DNS, &(struct query_ask){0}, error), 0);
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

/* Returns what an answer with these flags says, read in pieces of this many bytes. */
static uint8_t status_of(uint8_t high, uint8_t low, size_t piece)
{
    const uint8_t bytes[2 + 12] = {0, 12, 0, 7, high, low};
    struct query_stream stream = {0};
    enum query_event event = QUERY_MORE;

    assert_int_equal(query_init(&q, QUERY_DNS, &(struct query_ask){0}, error), 0);
    for (size_t at = 0; at < sizeof bytes; at += piece) {
        struct query_input in = {bytes + at, sizeof bytes - at < piece ? sizeof bytes - at : piece};

        assert_int_equal(event, QUERY_MORE);
        event = query_next(&q, &stream, &in);
    }
    assert_int_equal(event, QUERY_REPLY);
    query_free(&q);
    return stream.status;
}

static void answer_says_its_code_and_whether_it_is_truncated(void **state)
{
    (void)state;
    for (size_t piece = 1; piece <= 14; piece++) {
        for (uint8_t rcode = 0; rcode < 16; rcode++) {
            assert_int_equal(status_of(0x80, rcode, piece), 1 + rcode);
            assert_int_equal(status_of(0xfd, 0xf0 | rcode, piece), 1 + rcode); /* all but TC */
            assert_int_equal(status_of(0x82, rcode, piece), (1 + rcode) | QUERY_STATUS_TRUNCATED);
        }
        assert_int_equal(status_of(0x01, 0, piece), 0); /* an echoed query */
        assert_int_equal(status_of(0x7f, 0xff, piece), 0);
    }
}

/* The rest of an answer may look like the head of one: its id is the length of an answer. */
static void answers_are_told_apart_wherever_they_are_split(void **state)
{
    enum { ANSWER = 2 + 12, N = 3 };
    uint8_t bytes[N * ANSWER] = {0};

    (void)state;
    for (uint8_t i = 0; i < N; i++) {
        bytes[i * ANSWER + 1] = 12;
        bytes[i * ANSWER + 3] = (uint8_t)(12 + i);
    }
    assert_int_equal(query_init(&q, QUERY_DNS, &(struct query_ask){0}, error), 0);
    for (size_t first = 1; first < sizeof bytes; first++) {
        struct query_stream stream = {0};
        struct query_input pieces[] = {{bytes, first}, {bytes + first, sizeof bytes - first}};
        uint16_t id = 12;

        for (int i = 0; i < 2; i++)
            while (query_next(&q, &stream, &pieces[i]) == QUERY_REPLY)
                assert_int_equal(stream.id, id++);
        assert_int_equal(id, 12 + N);
    }
    query_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(query_for_example_com_is_31_known_bytes),
        cmocka_unit_test(name_is_the_requested_one),
        cmocka_unit_test(type_is_the_requested_one),
        cmocka_unit_test(bad_names_and_types_are_refused_with_their_option),
        cmocka_unit_test(edns_is_as_requested),
        cmocka_unit_test(lines_of_a_file_are_queries_in_their_order_again_and_again),
        cmocka_unit_test(one_line_is_one_query),
        cmocka_unit_test(queries_of_a_large_file_are_all_there),
        cmocka_unit_test(queries_of_a_file_may_be_padded_to_the_largest_block),
        cmocka_unit_test(bad_line_is_named_with_file_and_line),
        cmocka_unit_test(answer_says_its_code_and_whether_it_is_truncated),
        cmocka_unit_test(answers_are_told_apart_wherever_they_are_split),
        cmocka_unit_test(answer_has_at_least_a_header_and_at_most_65535_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
