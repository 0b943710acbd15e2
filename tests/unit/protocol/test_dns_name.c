/* SPDX-License-Identifier: MIT
 * test_dns_name: valid and invalid names. */
#include "protocol/dns_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { LONGEST_TEXT = 1100 };

static uint8_t wire[DNS_NAME_BYTES];

static size_t parse(const char *text)
{
    return dns_name_parse(text, strlen(text), wire);
}

static void assert_wire(const char *text, const char *wanted, size_t n_wanted)
{
    assert_int_equal(parse(text), n_wanted);
    assert_memory_equal(wire, wanted, n_wanted);
}

static void names_become_labels_and_may_end_with_a_dot(void **state)
{
    (void)state;
    assert_wire("example.com", "\7example\3com", 13);
    assert_wire("example.com.", "\7example\3com", 13);
    assert_wire("a", "\1a", 3);
    assert_wire(".", "", 1);
    assert_wire("_dns.Example.ORG", "\4_dns\7Example\3ORG", 18);
}

static void only_the_given_characters_are_read(void **state)
{
    (void)state;
    assert_int_equal(dns_name_parse("a.b.c A", 5, wire), 7);
    assert_memory_equal(wire, "\1a\1b\1c", 7);
    assert_int_equal(dns_name_parse("a\\065", 4, wire), 0);
}

static void escapes_stand_for_bytes(void **state)
{
    (void)state;
    assert_wire("a\\.b.c", "\3a.b\1c", 7);
    assert_wire("\\000\\255\\032", "\3\0\xff ", 5);
    assert_wire("\\\\.\\;\\\"", "\1\\\2;\"", 6);
    assert_wire("a\\ b", "\3a b", 5);
    assert_wire("caf\xc3\xa9", "\5caf\xc3\xa9", 7);
}

static void invalid_names_are_refused(void **state)
{
    static const char *const bad[] = {"",     "..",   ".a",      "a..b",  "a..",    "a\\",
                                      "\\1",  "\\12", "\\256.a", "\\999", "\\1a2",  "a b",
                                      "a\tb", "a\nb", "a\x7f",   "\\12x", "a.b\\2", "a\\25"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (parse(bad[i]) != 0)
            fail_msg("'%s' is accepted", bad[i]);
    assert_int_equal(dns_name_parse("a\0b", 3, wire), 0);
}

/* Makes a name of labels of `label` times `unit` that occupies n_bytes in a message. */
static void make(char text[LONGEST_TEXT], const char *unit, size_t label, size_t n_bytes)
{
    text[0] = '\0';
    for (size_t left = n_bytes - 1; left > 0;) {
        const size_t take = left - 1 < label ? left - 1 : label;

        for (size_t i = 0; i < take; i++)
            strcat(text, unit);
        left -= take + 1;
        if (left > 0)
            strcat(text, ".");
    }
}

static void labels_have_63_bytes_and_names_255_escaped_or_not(void **state)
{
    static const char *const units[] = {"a", "\\000"};
    char text[LONGEST_TEXT];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        make(text, units[i], 63, 65);
        assert_int_equal(parse(text), 65);
        make(text, units[i], 64, 66);
        assert_int_equal(parse(text), 0);
        make(text, units[i], 49, 255);
        assert_int_equal(parse(text), 255);
        make(text, units[i], 49, 256);
        assert_int_equal(parse(text), 0);
        make(text, units[i], 1, 255);
        assert_int_equal(parse(text), 255);
        make(text, units[i], 1, 257);
        assert_int_equal(parse(text), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_become_labels_and_may_end_with_a_dot),
        cmocka_unit_test(only_the_given_characters_are_read),
        cmocka_unit_test(escapes_stand_for_bytes),
        cmocka_unit_test(invalid_names_are_refused),
        cmocka_unit_test(labels_have_63_bytes_and_names_255_escaped_or_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
