/* SPDX-License-Identifier: MIT
 * test_dns_rcode: names by number. */
#include "protocol/dns_rcode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void codes_have_the_registrys_names(void **state)
{
    (void)state;
    assert_string_equal(dns_rcode_name(0), "NOERROR");
    assert_string_equal(dns_rcode_name(1), "FORMERR");
    assert_string_equal(dns_rcode_name(2), "SERVFAIL");
    assert_string_equal(dns_rcode_name(3), "NXDOMAIN");
    assert_string_equal(dns_rcode_name(4), "NOTIMP");
    assert_string_equal(dns_rcode_name(5), "REFUSED");
    assert_string_equal(dns_rcode_name(9), "NOTAUTH");
    assert_string_equal(dns_rcode_name(15), "RCODE15");
}

static void every_code_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (unsigned a = 0; a < DNS_RCODE_N; a++)
        for (unsigned b = 0; b < a; b++)
            assert_string_not_equal(dns_rcode_name(a), dns_rcode_name(b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_have_the_registrys_names),
        cmocka_unit_test(every_code_has_a_name_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
