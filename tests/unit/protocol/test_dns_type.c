/* SPDX-License-Identifier: MIT
 * test_dns_type: types by their names and numbers. */
#include "protocol/dns_type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* -1: none. */
static int number_of(const char *text)
{
    uint16_t type;

    return dns_type_parse(text, strlen(text), &type) == 0 ? type : -1;
}

static void mnemonics_have_the_registrys_numbers_in_any_case(void **state)
{
    (void)state;
    assert_int_equal(number_of("A"), 1);
    assert_int_equal(number_of("NS"), 2);
    assert_int_equal(number_of("SOA"), 6);
    assert_int_equal(number_of("PTR"), 12);
    assert_int_equal(number_of("MX"), 15);
    assert_int_equal(number_of("TXT"), 16);
    assert_int_equal(number_of("AAAA"), 28);
    assert_int_equal(number_of("SRV"), 33);
    assert_int_equal(number_of("DS"), 43);
    assert_int_equal(number_of("DNSKEY"), 48);
    assert_int_equal(number_of("SVCB"), 64);
    assert_int_equal(number_of("HTTPS"), 65);
    assert_int_equal(number_of("ANY"), 255);
    assert_int_equal(number_of("CAA"), 257);
    assert_int_equal(number_of("aaaa"), 28);
    assert_int_equal(number_of("Nsec3Param"), 51);
}

/* Types that dnsperf's query files may contain, and the newest ones. */
static void rare_types_have_the_registrys_numbers(void **state)
{
    (void)state;
    assert_int_equal(number_of("MB"), 7);
    assert_int_equal(number_of("MINFO"), 14);
    assert_int_equal(number_of("ISDN"), 20);
    assert_int_equal(number_of("NSAP-PTR"), 23);
    assert_int_equal(number_of("NXT"), 30);
    assert_int_equal(number_of("UNSPEC"), 103);
    assert_int_equal(number_of("MAILB"), 253);
    assert_int_equal(number_of("RESINFO"), 261);
    assert_int_equal(number_of("TA"), 32768);
}

static void any_number_may_be_given(void **state)
{
    (void)state;
    assert_int_equal(number_of("TYPE65"), 65);
    assert_int_equal(number_of("type65535"), 65535);
    assert_int_equal(number_of("TYPE0"), 0);
    assert_int_equal(number_of("TYPE00001"), 1);
}

static void invalid_types_are_refused(void **state)
{
    static const char *const bad[] = {
        "",       "AA",   "B",    "IN",   "65",  "TYPE", "TYPE-1",     "TYPE65536", "TYPE1x",
        "TYPE 1", "TYP1", "AXFR", "IXFR", "OPT", "A ",   "TYPE000001", "TYPE251",   "TYPE252"};
    uint16_t type;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (number_of(bad[i]) >= 0)
            fail_msg("'%s' is accepted", bad[i]);
    assert_int_equal(dns_type_parse("A\0AA", 4, &type), -1);
    assert_int_equal(dns_type_parse("AAAA", 1, &type), 0);
    assert_int_equal(type, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mnemonics_have_the_registrys_numbers_in_any_case),
        cmocka_unit_test(rare_types_have_the_registrys_numbers),
        cmocka_unit_test(any_number_may_be_given),
        cmocka_unit_test(invalid_types_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
