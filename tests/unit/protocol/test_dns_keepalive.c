/* SPDX-License-Identifier: MIT
 * test_dns_keepalive: the option is found wherever it may stand, however the answer is cut; what
 * cannot be parsed is malformed. */
#include "protocol/dns_keepalive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_BYTES = 512 };

#define LENGTH               "\0\0" /* not used */
#define HEAD(qd, an, ar)     LENGTH "\x12\x34\x81\x80\0" qd "\0" an "\0\0\0" ar
#define QUESTION             "\7example\3com\0\0\1\0\1"
#define ADDRESS              "\xc0\x0c\0\1\0\1\0\0\x0e\x10\0\4\xc0\0\2\1"
#define OPT(n)               "\0\0\x29\x04\xd0\0\0\0\0" n
#define KEEPALIVE(high, low) "\0\x0b\0\2" high low
#define COOKIE                                                                                     \
    "\0\x0a\0\x08"                                                                                 \
    "01234567"

static uint16_t timeout;

/* In pieces of this many bytes. */
static enum dns_keepalive_found find_in(const char *bytes, size_t n_bytes, size_t piece)
{
    struct dns_keepalive k = {0};
    enum dns_keepalive_found found;

    for (size_t at = 0; at < n_bytes; at += piece)
        dns_keepalive_read(&k, (const uint8_t *)bytes + at,
                           n_bytes - at < piece ? n_bytes - at : piece);
    found = dns_keepalive_end(&k);
    timeout = k.timeout;
    assert_int_equal(k.state, 0); /* ready for the next message */
    assert_int_equal(k.found, 0);
    return found;
}

static void assert_found(enum dns_keepalive_found wanted, const char *bytes, size_t n_bytes)
{
    assert_in_range(n_bytes, 1, MOST_BYTES);
    for (size_t piece = 1; piece <= n_bytes; piece++)
        if (find_in(bytes, n_bytes, piece) != wanted)
            fail_msg("pieces of %zu bytes: not %d", piece, wanted);
}

#define ASSERT_FOUND(wanted, bytes) assert_found(wanted, bytes, sizeof(bytes) - 1)

static void timeout_is_that_of_the_option(void **state)
{
    (void)state;
    ASSERT_FOUND(DNS_KEEPALIVE_TIMEOUT,
                 HEAD("\1", "\1", "\1") QUESTION ADDRESS OPT("\0\6") KEEPALIVE("\x12", "\x34"));
    assert_int_equal(timeout, 0x1234);
    ASSERT_FOUND(DNS_KEEPALIVE_TIMEOUT, HEAD("\0", "\0", "\1") OPT("\0\6") KEEPALIVE("\0", "\0"));
    assert_int_equal(timeout, 0);
}

static void other_options_and_records_may_surround_it(void **state)
{
    (void)state;
    ASSERT_FOUND(DNS_KEEPALIVE_TIMEOUT,
                 HEAD("\2", "\1", "\3") QUESTION QUESTION ADDRESS ADDRESS OPT("\0\x1e")
                     COOKIE KEEPALIVE("\0", "\x1e") COOKIE ADDRESS);
    assert_int_equal(timeout, 30);
}

static void answer_without_the_option_has_none(void **state)
{
    (void)state;
    ASSERT_FOUND(DNS_KEEPALIVE_NONE, HEAD("\1", "\1", "\0") QUESTION ADDRESS);
    ASSERT_FOUND(DNS_KEEPALIVE_NONE, HEAD("\1", "\1", "\1") QUESTION ADDRESS OPT("\0\0"));
    ASSERT_FOUND(DNS_KEEPALIVE_NONE, HEAD("\1", "\0", "\1") QUESTION OPT("\0\x0c") COOKIE);
    ASSERT_FOUND(DNS_KEEPALIVE_NONE, HEAD("\0", "\0", "\0"));
    ASSERT_FOUND(DNS_KEEPALIVE_NONE, HEAD("\1", "\0", "\0")); /* an error: a bare header */
}

static void opt_record_counts_in_the_additional_section_only(void **state)
{
    (void)state;
    ASSERT_FOUND(DNS_KEEPALIVE_NONE, HEAD("\0", "\1", "\0") OPT("\0\6") KEEPALIVE("\0", "\x1e"));
    ASSERT_FOUND(DNS_KEEPALIVE_NONE,
                 HEAD("\0", "\1", "\1") OPT("\0\6") KEEPALIVE("\0", "\x1e") ADDRESS);
}

/* tcpserver sends back the query itself. */
static void echoed_query_has_none(void **state)
{
    static const char query[] =
        LENGTH "\x12\x34\1\0\0\1\0\0\0\0\0\1" QUESTION OPT("\0\4") "\0\x0b\0\0";

    (void)state;
    ASSERT_FOUND(DNS_KEEPALIVE_NONE, query);
}

static void option_of_another_length_is_malformed(void **state)
{
    (void)state;
    ASSERT_FOUND(DNS_KEEPALIVE_MALFORMED, HEAD("\0", "\0", "\1") OPT("\0\4") "\0\x0b\0\0");
    ASSERT_FOUND(DNS_KEEPALIVE_MALFORMED, HEAD("\0", "\0", "\1") OPT("\0\5") "\0\x0b\0\1\1");
    ASSERT_FOUND(DNS_KEEPALIVE_MALFORMED, HEAD("\0", "\0", "\1") OPT("\0\7") "\0\x0b\0\3\1\2\3");
}

static void options_that_exceed_their_record_are_malformed(void **state)
{
    (void)state;
    ASSERT_FOUND(DNS_KEEPALIVE_MALFORMED, HEAD("\0", "\0", "\1") OPT("\0\5") KEEPALIVE("\0", "\1"));
    ASSERT_FOUND(DNS_KEEPALIVE_MALFORMED, HEAD("\0", "\0", "\1") OPT("\0\3") "\0\x0b\0");
    ASSERT_FOUND(DNS_KEEPALIVE_MALFORMED,
                 HEAD("\0", "\0", "\1") OPT("\0\x0b") KEEPALIVE("\0", "\1") "\0\x0a\0\2\1");
    ASSERT_FOUND(DNS_KEEPALIVE_MALFORMED, HEAD("\0", "\0", "\1") OPT("\0\4") "\0\x0a\xff\xff");
}

static void message_that_ends_too_early_is_malformed(void **state)
{
    static const char whole[] =
        HEAD("\1", "\1", "\1") QUESTION ADDRESS OPT("\0\6") KEEPALIVE("\0", "\x1e");
    const size_t head = 14, question = head + 17, address = question + 16;

    (void)state;
    for (size_t n = 1; n < sizeof whole - 1; n++)
        assert_found(n == head || n == question || n == address ? DNS_KEEPALIVE_NONE
                                                                : DNS_KEEPALIVE_MALFORMED,
                     whole, n);
}

static void labels_of_an_unknown_kind_are_malformed(void **state)
{
    (void)state;
    ASSERT_FOUND(DNS_KEEPALIVE_MALFORMED, HEAD("\1", "\0", "\0") "\x40\0\0\0\0\0\0");
    ASSERT_FOUND(DNS_KEEPALIVE_MALFORMED, HEAD("\1", "\0", "\0") "\x80\0\0\0\0\0\0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeout_is_that_of_the_option),
        cmocka_unit_test(other_options_and_records_may_surround_it),
        cmocka_unit_test(answer_without_the_option_has_none),
        cmocka_unit_test(opt_record_counts_in_the_additional_section_only),
        cmocka_unit_test(echoed_query_has_none),
        cmocka_unit_test(option_of_another_length_is_malformed),
        cmocka_unit_test(options_that_exceed_their_record_are_malformed),
        cmocka_unit_test(message_that_ends_too_early_is_malformed),
        cmocka_unit_test(labels_of_an_unknown_kind_are_malformed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
