/* SPDX-License-Identifier: MIT
 * test_srcplan: capacity, tuples by number, excluded ports. */
#include "srcplan_steps.h"

#include "workload/srcplan.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fill_srcplan.h"

static void an_excluded_port_leaves_the_plan_once(void **state)
{
    char list[LIST_BYTES];
    struct srcplan p;

    (void)state;
    fill_srcplan(&p, NULL, "65535,10-13");
    assert_int_equal(srcplan_exclude_ports(&p, 9, 9), 0);
    assert_int_equal(srcplan_exclude_ports(&p, 11, 11), 1);
    assert_int_equal(srcplan_exclude_ports(&p, 11, 11), 0);
    list_ports(&p, list);
    assert_string_equal(list, "65535 10 12 13");
    assert_int_equal(srcplan_exclude_ports(&p, 13, 65535), 2);
    list_ports(&p, list);
    assert_string_equal(list, "10 12");
    assert_int_equal(srcplan_capacity(&p), 2);
    srcplan_free(&p);
    fill_srcplan(&p, "10.0.0.1", NULL);
    assert_int_equal(srcplan_exclude_ports(&p, 11, 11), 0);
    srcplan_free(&p);
}

static void the_capacity_is_addresses_times_ports(void **state)
{
    static const struct {
        const char *sources, *ports;
        uint64_t expected;
    } cases[] = {
        {NULL, NULL, UINT64_MAX},
        {"10.0.0.1", NULL, UINT64_MAX},
        {NULL, "32768-61000", 28233},
        {"10.0.0.1", "32768-61000", 28233},
        {"10.0.0.1,10.0.0.9", "32768-60999", 56464},
        {"10.1.0.0/24", "32768-61000", 256 * 28233},
        {"192.168.{10..30}.{101,102}", "1024-65535,!8080", 42ull * 64511},
        {"10.0.0.0/8", "1-65535", 16777216ull * 65535},
        {"0.0.0.0/0", "1-65535", 4294967296ull * 65535},
        {"0.0.0.0-255.255.255.255", "1-65535", 4294967296ull * 65535},
        {"fd00::/96", "1-65535", 4294967296ull * 65535},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct srcplan p;

        fill_srcplan(&p, cases[i].sources, cases[i].ports);
        assert_int_equal(srcplan_capacity(&p), cases[i].expected);
        srcplan_free(&p);
    }
}

static void a_repeated_address_is_found(void **state)
{
    static const struct {
        const char *sources, *repeated; /* NULL: none */
    } cases[] = {
        {NULL, NULL},
        {"10.0.0.1", NULL},
        {"10.0.0.9,10.0.0.1,10.0.0.8,10.0.0.2-7", NULL},
        {"10.0.0.1,10.0.0.2,10.0.0.1", "10.0.0.1"},
        {"10.0.0.0/8,10.50.0.9", "10.50.0.9"},
        {"10.50.0.9,10.0.0.0/8", "10.50.0.9"},
        {"10.0.0.5-9,10.0.0.1-5", "10.0.0.5"},
        {"0.0.0.0/0,255.255.255.255", "255.255.255.255"},
        {"fd00::1,fd01::1", NULL},
        {"fd00::1-9,fd00::9", "fd00::9"},
        {"fe80::1%2,fe80::1%3", NULL},
        {"fe80::1%2,fe80::1%3,fe80::1%2", "fe80::1"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct srcplan_address repeated;
        char text[INET6_ADDRSTRLEN];
        struct srcplan p;

        fill_srcplan(&p, cases[i].sources, NULL);
        assert_int_equal(srcplan_find_repeat(&p, &repeated), cases[i].repeated != NULL);
        if (cases[i].repeated != NULL)
            assert_string_equal(inet_ntop(repeated.family, repeated.bytes, text, sizeof text),
                                cases[i].repeated);
        srcplan_free(&p);
    }
}

static void tuples_are_address_major(void **state)
{
    struct srcplan p;

    (void)state;
    fill_srcplan(&p, "10.0.0.255-10.0.1.0,10.9.0.0/31,10.3.0.3", "61000,20000-20001");
    assert_int_equal(srcplan_capacity(&p), 15);
    assert_tuple(&p, 0, "10.0.0.255:61000");
    assert_tuple(&p, 1, "10.0.0.255:20000");
    assert_tuple(&p, 2, "10.0.0.255:20001");
    assert_tuple(&p, 3, "10.0.1.0:61000");
    assert_tuple(&p, 5, "10.0.1.0:20001");
    assert_tuple(&p, 6, "10.9.0.0:61000");
    assert_tuple(&p, 11, "10.9.0.1:20001");
    assert_tuple(&p, 12, "10.3.0.3:61000");
    assert_tuple(&p, 14, "10.3.0.3:20001");
    srcplan_free(&p);
    fill_srcplan(&p, "10.0.0.0/8", "1-65535");
    assert_tuple(&p, 65534, "10.0.0.0:65535");
    assert_tuple(&p, 65535, "10.0.0.1:1");
    assert_tuple(&p, 16777216ull * 65535 - 1, "10.255.255.255:65535");
    srcplan_free(&p);
    fill_srcplan(&p, "fd00::ffff:ffff-fd00::1:0:1", "9");
    assert_tuple(&p, 0, "fd00::ffff:ffff:9");
    assert_tuple(&p, 1, "fd00::1:0:0:9");
    assert_tuple(&p, 2, "fd00::1:0:1:9");
    srcplan_free(&p);
}

static void what_is_not_given_is_left_to_the_kernel(void **state)
{
    struct srcplan p;

    (void)state;
    fill_srcplan(&p, NULL, NULL);
    assert_tuple(&p, 0, "*:0");
    assert_tuple(&p, UINT64_MAX - 1, "*:0");
    srcplan_free(&p);
    fill_srcplan(&p, NULL, "7,5");
    assert_int_equal(srcplan_family(&p), AF_UNSPEC);
    assert_tuple(&p, 0, "*:7");
    assert_tuple(&p, 1, "*:5");
    srcplan_free(&p);
    fill_srcplan(&p, "10.0.0.1-2,10.0.0.9", NULL);
    assert_tuple(&p, 1, "10.0.0.2:0");
    assert_tuple(&p, 2, "10.0.0.9:0");
    assert_tuple(&p, 3, "10.0.0.1:0");
    assert_tuple(&p, 3000001, "10.0.0.2:0");
    srcplan_free(&p);
}

static bool has(const struct srcplan *p, int family, const char *text)
{
    struct srcplan_address address = {.family = family};

    assert_int_equal(inet_pton(family, text, address.bytes), 1);
    return srcplan_has_address(p, &address);
}

static void an_address_is_found_in_whatever_range_it_lies(void **state)
{
    struct srcplan p;

    (void)state;
    fill_srcplan(&p, "10.0.0.5-9,10.1.0.0/24", "7");
    assert_true(has(&p, AF_INET, "10.0.0.5") && has(&p, AF_INET, "10.0.0.9"));
    assert_true(has(&p, AF_INET, "10.1.0.0") && has(&p, AF_INET, "10.1.0.255"));
    assert_false(has(&p, AF_INET, "10.0.0.4") || has(&p, AF_INET, "10.0.0.10"));
    assert_false(has(&p, AF_INET, "10.1.1.0") || has(&p, AF_INET6, "a00:5::"));
    srcplan_free(&p);
    fill_srcplan(&p, NULL, "7");
    assert_false(has(&p, AF_INET, "10.0.0.5"));
    srcplan_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_excluded_port_leaves_the_plan_once),
        cmocka_unit_test(the_capacity_is_addresses_times_ports),
        cmocka_unit_test(a_repeated_address_is_found),
        cmocka_unit_test(tuples_are_address_major),
        cmocka_unit_test(what_is_not_given_is_left_to_the_kernel),
        cmocka_unit_test(an_address_is_found_in_whatever_range_it_lies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
