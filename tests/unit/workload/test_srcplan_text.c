/* SPDX-License-Identifier: MIT
 * test_srcplan_text: parsing sources and ports. */
#include "srcplan_steps.h"

#include "workload/srcplan.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fill_srcplan.h"

/* All addresses of a plan without ports, separated by blanks. */
static void list_addresses(const struct srcplan *p, char *list)
{
    size_t n = 0;

    list[0] = '\0';
    for (uint64_t i = 0; i < p->n_addresses; i++) {
        struct srcplan_tuple t;
        char text[INET6_ADDRSTRLEN + 8];

        srcplan_at(p, i, &t);
        name_tuple(&t, text, sizeof text);
        *strrchr(text, ':') = '\0';
        n += (size_t)snprintf(list + n, LIST_BYTES - n, "%s%s", i == 0 ? "" : " ", text);
    }
}

static void sources_are_read_in_every_syntax_and_keep_their_order(void **state)
{
    static const struct {
        const char *list, *expected;
    } cases[] = {
        {"10.0.0.1", "10.0.0.1"},
        {"fd00::1", "fd00::1"},
        {"10.0.0.9-10.0.0.11", "10.0.0.9 10.0.0.10 10.0.0.11"},
        {"10.0.0.254-10.0.1.1", "10.0.0.254 10.0.0.255 10.0.1.0 10.0.1.1"},
        {"10.255.255.255-11.0.0.0", "10.255.255.255 11.0.0.0"},
        {"10.0.0.3-10.0.0.3", "10.0.0.3"},
        {"10.0.0.1-3", "10.0.0.1 10.0.0.2 10.0.0.3"},
        {"10.0.0.255-255", "10.0.0.255"},
        {"fd00::fffe-fd00::1:1", "fd00::fffe fd00::ffff fd00::1:0 fd00::1:1"},
        {"fd00::9-b", "fd00::9 fd00::a fd00::b"},
        {"10.1.0.0/30", "10.1.0.0 10.1.0.1 10.1.0.2 10.1.0.3"},
        {"10.1.0.7/30", "10.1.0.4 10.1.0.5 10.1.0.6 10.1.0.7"},
        {"10.1.0.7/32", "10.1.0.7"},
        {"fd00::/126", "fd00:: fd00::1 fd00::2 fd00::3"},
        {"fd00::5/128", "fd00::5"},
        {"192.168.{9..11}.101", "192.168.9.101 192.168.10.101 192.168.11.101"},
        {"10.0.0.{1,5,9}", "10.0.0.1 10.0.0.5 10.0.0.9"},
        {"10.0.0.{5,1}", "10.0.0.5 10.0.0.1"},
        {"10.0.0.{7}", "10.0.0.7"},
        {"10.{1..2}.0.{3,4}", "10.1.0.3 10.1.0.4 10.2.0.3 10.2.0.4"},
        {"10.{1,2}.{3..3}.{4,5}", "10.1.3.4 10.1.3.5 10.2.3.4 10.2.3.5"},
        {"fd00:{a,b}::1", "fd00:a::1 fd00:b::1"},
        {"10.0.{1,2}.0/31", "10.0.1.0 10.0.1.1 10.0.2.0 10.0.2.1"},
        {"10.0.0.9,10.0.0.1", "10.0.0.9 10.0.0.1"},
        {"10.0.0.1,10.0.0.1", "10.0.0.1 10.0.0.1"},
        {"10.0.0.{1,2},10.9.0.0/31,10.8.0.1-2,10.7.0.1",
         "10.0.0.1 10.0.0.2 10.9.0.0 10.9.0.1 10.8.0.1 10.8.0.2 10.7.0.1"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        char error[SRCPLAN_ERROR_BYTES], list[LIST_BYTES];
        struct srcplan p;

        srcplan_init(&p);
        assert_int_equal(srcplan_add_sources(&p, cases[i].list, error), 0);
        list_addresses(&p, list);
        assert_string_equal(list, cases[i].expected);
        srcplan_free(&p);
    }
}

static void later_sources_are_appended(void **state)
{
    char error[SRCPLAN_ERROR_BYTES], list[LIST_BYTES];
    struct srcplan p;

    (void)state;
    fill_srcplan(&p, "10.0.0.5-6", NULL);
    assert_int_equal(srcplan_add_sources(&p, "10.0.0.1,10.0.0.5", error), 0);
    list_addresses(&p, list);
    assert_string_equal(list, "10.0.0.5 10.0.0.6 10.0.0.1 10.0.0.5");
    srcplan_free(&p);
}

static void assert_sources_refused(const char *before, const char *list, const char *item)
{
    char error[SRCPLAN_ERROR_BYTES] = "", quoted[100], addresses[2][LIST_BYTES];
    struct srcplan p;

    fill_srcplan(&p, before, NULL);
    list_addresses(&p, addresses[0]);
    assert_int_equal(srcplan_add_sources(&p, list, error), -1);
    snprintf(quoted, sizeof quoted, "'%s'", item);
    assert_non_null(strstr(error, quoted));
    assert_non_null(strstr(error, "expected"));
    assert_non_null(strstr(error, "ADDRESS/BITS"));
    assert_null(strchr(error, '\n'));
    list_addresses(&p, addresses[1]);
    assert_string_equal(addresses[1], addresses[0]);
    srcplan_free(&p);
}

static void bad_sources_are_quoted_and_leave_the_plan_as_before(void **state)
{
    static const char *const bad[] = {
        "",
        "host",
        "10.0.0",
        "10.0.0.256",
        "10.0.0.1 ",
        " 10.0.0.1",
        "10.0.0.1:80",
        "10.0.0.9-10.0.0.1",
        "10.0.0.9-8",
        "10.0.0.1-256",
        "10.0.0.1-",
        "-10.0.0.1",
        "10.0.0.1-2-3",
        "10.0.0.1-fd00::1",
        "10.0.0.0/33",
        "10.0.0.0/",
        "10.0.0.0/+8",
        "10.0.0.0/8x",
        "/8",
        "fd00::/129",
        "fd00::/64",
        "fd00::/95",
        "fd00::-fd01::",
        "fd00::-fd00::1:0:0",
        "fd00::1-fffff",
        "fe80::1%lo",
        "fe80::1%2147483648",
        "fe80::1%4294967297",
        "10.0.0.{}",
        "10.0.0.{1,}",
        "10.0.0.{1,256}",
        "10.0.0.{3..1}",
        "10.0.0.{1..}",
        "10.0.0.{..3}",
        "10.0.0.{1..300}",
        "10.0.0.{1",
        "10.0.0.1}",
        "10.0.0.{{1,2}}",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(bad); i++) {
        char list[100];

        assert_sources_refused(NULL, bad[i], bad[i]);
        assert_sources_refused("10.0.0.1-3", bad[i], bad[i]);
        snprintf(list, sizeof list, "10.9.0.0/30,%s", bad[i]);
        assert_sources_refused("10.0.0.1-3", list, bad[i]);
    }
}

static void a_range_of_link_local_addresses_has_the_zone_of_its_end(void **state)
{
    struct srcplan_tuple t;
    struct srcplan p;

    (void)state;
    fill_srcplan(&p, "fe80::1-3%7,fe80::9%8,fe80::%9/126", NULL);
    assert_int_equal(p.n_addresses, 8);
    for (uint64_t i = 0; i < 8; i++) {
        srcplan_at(&p, i, &t);
        assert_int_equal(t.address.scope, i < 3 ? 7 : i < 4 ? 8 : 9);
    }
    srcplan_free(&p);
}

static void braces_do_not_take_all_memory(void **state)
{
    char error[SRCPLAN_ERROR_BYTES] = "";
    struct srcplan p;

    (void)state;
    fill_srcplan(&p, "10.0.0.1", NULL);
    assert_int_equal(srcplan_add_sources(&p, "10.{0..255}.{0..255}.{0..255}", error), -1);
    assert_non_null(strstr(error, "more than 65536 parts"));
    assert_int_equal(p.n_addresses, 1);
    assert_int_equal(srcplan_add_sources(&p, "10.1.{0..254}.{0..255}", error), 0);
    assert_int_equal(p.n_addresses, 1 + 255 * 256);
    assert_tuple(&p, 65280, "10.1.254.255:0");
    srcplan_free(&p);
}

static void families_are_not_mixed(void **state)
{
    char error[SRCPLAN_ERROR_BYTES];
    struct srcplan p;

    (void)state;
    assert_sources_refused("10.0.0.1", "fd00::1", "fd00::1");
    assert_sources_refused("fd00::1", "10.0.0.1", "10.0.0.1");
    assert_sources_refused("fd00::1", "fd00::2,10.0.0.0/24", "10.0.0.0/24");
    assert_sources_refused(NULL, "10.0.0.1,fd00::1", "fd00::1");

    fill_srcplan(&p, NULL, NULL);
    assert_int_equal(srcplan_family(&p), AF_UNSPEC);
    assert_int_equal(srcplan_add_sources(&p, "10.0.0.1,fd00::1", error), -1);
    assert_int_equal(srcplan_family(&p), AF_UNSPEC);
    assert_int_equal(srcplan_add_sources(&p, "fd00::1", error), 0);
    assert_int_equal(srcplan_family(&p), AF_INET6);
    srcplan_free(&p);
    fill_srcplan(&p, "10.0.0.1", NULL);
    assert_int_equal(srcplan_family(&p), AF_INET);
    srcplan_free(&p);
}

static void ports_are_read_in_order_without_repeats_and_exclusions(void **state)
{
    static const struct {
        const char *list, *expected;
    } cases[] = {
        {"1", "1"},
        {"65535", "65535"},
        {"5-8", "5 6 7 8"},
        {"65533-65535", "65533 65534 65535"},
        {"61000,20000-20002", "61000 20000 20001 20002"},
        {"7,5-8,7", "7 5 6 8"},
        {"1-4,!2", "1 3 4"},
        {"!2,1-4", "1 3 4"},
        {"1-9,!2-7", "1 8 9"},
        {"1-5,!3,2-6", "1 2 4 5 6"},
        {"65533-65535,!65535", "65533 65534"},
        {"65534-65535,!65000-65534", "65535"},
        {"1-3,!4", "1 2 3"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        char list[LIST_BYTES];
        struct srcplan p;

        fill_srcplan(&p, NULL, cases[i].list);
        list_ports(&p, list);
        assert_string_equal(list, cases[i].expected);
        assert_int_equal(srcplan_capacity(&p), p.n_ports);
        srcplan_free(&p);
    }
}

static void bad_ports_are_quoted_and_leave_the_plan_as_before(void **state)
{
    static const struct {
        const char *list, *item;
    } cases[] = {
        {"", ""},
        {"0", "0"},
        {"65536", "65536"},
        {"70000", "70000"},
        {"4294967297", "4294967297"},
        {"x", "x"},
        {"1x", "1x"},
        {"-1", "-1"},
        {"1-", "1-"},
        {"9-8", "9-8"},
        {"0-9", "0-9"},
        {"1-65536", "1-65536"},
        {"1-2-3", "1-2-3"},
        {"!", "!"},
        {"!!5", "!!5"},
        {"!0", "!0"},
        {"+5", "+5"},
        {" 5", " 5"},
        {"5 ", "5 "},
        {"100,", ""},
        {"100,,101", ""},
        {"100,0x10", "0x10"},
        {"100-200,!9-8", "!9-8"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        char error[SRCPLAN_ERROR_BYTES] = "", quoted[100], list[LIST_BYTES];
        struct srcplan p;

        fill_srcplan(&p, NULL, "7,5");
        assert_int_equal(srcplan_add_ports(&p, cases[i].list, error), -1);
        snprintf(quoted, sizeof quoted, "'%s'", cases[i].item);
        assert_non_null(strstr(error, quoted));
        assert_non_null(strstr(error, "expected"));
        assert_non_null(strstr(error, "65535"));
        assert_null(strchr(error, '\n'));
        list_ports(&p, list);
        assert_string_equal(list, "7 5");
        srcplan_free(&p);
    }
}

static void a_list_that_leaves_no_port_is_an_error(void **state)
{
    static const char *const lists[] = {"5,!5", "!5", "!1-65535,1-65535", "1000-2000,!1-3000"};

    (void)state;
    for (size_t i = 0; i < N_OF(lists); i++) {
        char error[SRCPLAN_ERROR_BYTES] = "";
        struct srcplan p;

        fill_srcplan(&p, NULL, NULL);
        assert_int_equal(srcplan_add_ports(&p, lists[i], error), -1);
        assert_non_null(strstr(error, lists[i]));
        assert_int_equal(srcplan_capacity(&p), UINT64_MAX);
        srcplan_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_are_read_in_every_syntax_and_keep_their_order),
        cmocka_unit_test(later_sources_are_appended),
        cmocka_unit_test(bad_sources_are_quoted_and_leave_the_plan_as_before),
        cmocka_unit_test(a_range_of_link_local_addresses_has_the_zone_of_its_end),
        cmocka_unit_test(braces_do_not_take_all_memory),
        cmocka_unit_test(families_are_not_mixed),
        cmocka_unit_test(ports_are_read_in_order_without_repeats_and_exclusions),
        cmocka_unit_test(bad_ports_are_quoted_and_leave_the_plan_as_before),
        cmocka_unit_test(a_list_that_leaves_no_port_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
