/* SPDX-License-Identifier: MIT
 * test_dns_message: the bytes of queries with and without EDNS. */
#include "protocol/dns_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct dns_question example = {.name = "\7example\3com", .n_name = 13, .type = 28};
static uint8_t message[DNS_MESSAGE_BYTES];

static void query_has_its_length_a_header_and_a_question(void **state)
{
    static const uint8_t wanted[31] = {0, 0x1d, 0,   0,   0x01, 0,   0,   1,   0,   0,   0,
                                       0, 0,    0,   7,   'e',  'x', 'a', 'm', 'p', 'l', 'e',
                                       3, 'c',  'o', 'm', 0,    0,   28,  0,   1};

    (void)state;
    assert_int_equal(dns_message_encode(message, &example, &(struct dns_edns){0}), sizeof wanted);
    assert_memory_equal(message, wanted, sizeof wanted);
}

/* The query with EDNS must have n bytes after its length, and these bytes, then zeros, after the
 * question. */
static void assert_opt(struct dns_edns edns, size_t n, const char *opt, size_t n_opt)
{
    memset(message, 0xff, sizeof message);
    assert_int_equal(dns_message_encode(message, &example, &edns), 2 + n);
    assert_int_equal(message[0] << 8 | message[1], n);
    assert_memory_equal(message + 6, "\0\1\0\0\0\0\0\1", 8); /* a question, an additional record */
    assert_memory_equal(message + 31, opt, n_opt);
    for (size_t i = 31 + n_opt; i < 2 + n; i++)
        assert_int_equal(message[i], 0);
    if (2 + n < sizeof message)
        assert_int_equal(message[2 + n], 0xff);
}

static void edns_is_an_opt_record_with_size_and_do_bit(void **state)
{
    (void)state;
    assert_opt((struct dns_edns){.udp_bytes = 4096}, 40, "\0\0\x29\x10\0\0\0\0\0\0\0", 11);
    assert_opt((struct dns_edns){.dnssec = true}, 40, "\0\0\x29\x04\xd0\0\0\x80\0\0\0", 11);
}

static void keepalive_is_requested_by_an_empty_option(void **state)
{
    (void)state;
    assert_opt((struct dns_edns){.keepalive = true}, 44, "\0\0\x29\x04\xd0\0\0\0\0\0\4\0\x0b\0\0",
               15);
    assert_opt((struct dns_edns){.keepalive = true, .padding_bytes = 64}, 64,
               "\0\0\x29\x04\xd0\0\0\0\0\0\x18\0\x0b\0\0\0\x0c\0\x10", 19);
}

static void padding_makes_the_message_a_multiple_of_the_block(void **state)
{
    (void)state;
    assert_opt((struct dns_edns){.padding_bytes = 128}, 128,
               "\0\0\x29\x04\xd0\0\0\0\0\0\x58\0\x0c\0\x54", 15);
    /* 44 bytes with an empty option: no padding, or all but one byte of a block */
    assert_opt((struct dns_edns){.padding_bytes = 44}, 44, "\0\0\x29\x04\xd0\0\0\0\0\0\4\0\x0c\0\0",
               15);
    assert_opt((struct dns_edns){.padding_bytes = 43}, 86,
               "\0\0\x29\x04\xd0\0\0\0\0\0\x2e\0\x0c\0\x2a", 15);
    assert_opt((struct dns_edns){.padding_bytes = 1}, 44, "\0\0\x29\x04\xd0\0\0\0\0\0\4\0\x0c\0\0",
               15);
}

static void the_longest_message_is_as_long_as_the_header_says(void **state)
{
    struct dns_question longest = {.n_name = DNS_NAME_BYTES};

    const struct dns_edns edns = {.padding_bytes = DNS_MESSAGE_PADDING_BYTES, .keepalive = true};

    (void)state;
    assert_int_equal(dns_message_encode(message, &longest, &edns), 2 + DNS_MESSAGE_PADDING_BYTES);
    for (uint16_t block = 1; block <= DNS_MESSAGE_PADDING_BYTES; block++) {
        const size_t n = dns_message_encode(
            message, &longest, &(struct dns_edns){.padding_bytes = block, .keepalive = true});

        assert_true(n <= DNS_MESSAGE_BYTES);
        assert_int_equal((n - 2) % block, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(query_has_its_length_a_header_and_a_question),
        cmocka_unit_test(edns_is_an_opt_record_with_size_and_do_bit),
        cmocka_unit_test(keepalive_is_requested_by_an_empty_option),
        cmocka_unit_test(padding_makes_the_message_a_multiple_of_the_block),
        cmocka_unit_test(the_longest_message_is_as_long_as_the_header_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
