/* SPDX-License-Identifier: MIT
 * test_identity: which client each connection speaks for. */
#include "workload/identity.h"

#include "srcplan_steps.h"

static void assert_identity(const struct srcplan *p, uint64_t i, const char *expected)
{
    const struct srcplan_tuple identity = identity_of(p, i);
    char text[INET6_ADDRSTRLEN + 8];

    name_tuple(&identity, text, sizeof text);
    assert_string_equal(text, expected);
}

static void neighbours_have_different_addresses(void **state)
{
    struct srcplan p;

    (void)state;
    fill_srcplan(&p, "10.0.0.0-10.0.255.255", NULL);
    assert_identity(&p, 0, "10.0.0.0:1024");
    assert_identity(&p, 1, "10.0.0.1:1024");
    assert_identity(&p, 65535, "10.0.255.255:1024");
    assert_identity(&p, 65536, "10.0.0.0:1025");
    assert_identity(&p, 1000000, "10.0.66.64:1039");
    srcplan_free(&p);
}

static void all_identities_of_an_address_differ(void **state)
{
    struct srcplan p;

    (void)state;
    fill_srcplan(&p, "fd00::7,fd00::9", NULL);
    assert_int_equal(identity_capacity(&p), 2 * IDENTITY_PORTS);
    assert_identity(&p, 0, "fd00::7:1024");
    assert_identity(&p, 1, "fd00::9:1024");
    assert_identity(&p, identity_capacity(&p) - 2, "fd00::7:65535");
    assert_identity(&p, identity_capacity(&p) - 1, "fd00::9:65535");
    srcplan_free(&p);
}

static void capacity_of_very_many_addresses_does_not_wrap(void **state)
{
    const struct srcplan p = {.n_addresses = UINT64_MAX / 2};

    (void)state;
    assert_int_equal(identity_capacity(&p), UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_have_different_addresses),
        cmocka_unit_test(all_identities_of_an_address_differ),
        cmocka_unit_test(capacity_of_very_many_addresses_does_not_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
