/* SPDX-License-Identifier: MIT
 * test_source_list_interface: the addresses of an interface, as getifaddrs(3) lists them. */
#include "host/source_list.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define INTERFACE "iface:eth7"

enum { MOST = 8 };

static char interface_name[] = "eth7";
static struct ifaddrs listed[MOST];
static struct sockaddr_storage addresses[MOST];
static size_t n_listed;
static char error[SOURCE_LIST_ERROR_BYTES];
static struct srcplan plan;

/* Called by source_list_add(). */
int getifaddrs(struct ifaddrs **list)
{
    *list = n_listed > 0 ? listed : NULL;
    return 0;
}

void freeifaddrs(struct ifaddrs *list)
{
    (void)list;
}

static void list_address(const char *text)
{
    struct in_addr four;
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};

    assert_true(n_listed < MOST);
    if (inet_pton(AF_INET, text, &four) == 1) {
        in.sin_addr = four;
        memcpy(&addresses[n_listed], &in, sizeof in);
    } else {
        assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
        memcpy(&addresses[n_listed], &in6, sizeof in6);
    }
    listed[n_listed] = (struct ifaddrs){
        .ifa_name = interface_name,
        .ifa_addr = (struct sockaddr *)&addresses[n_listed],
    };
    if (n_listed > 0)
        listed[n_listed - 1].ifa_next = &listed[n_listed];
    n_listed++;
}

static int teardown(void **state)
{
    (void)state;
    n_listed = 0;
    srcplan_free(&plan);
    return 0;
}

static void assert_source(uint64_t i, const char *expected)
{
    char text[INET6_ADDRSTRLEN];
    struct srcplan_tuple t;

    srcplan_at(&plan, i, &t);
    assert_non_null(inet_ntop(t.address.family, t.address.bytes, text, sizeof text));
    assert_string_equal(text, expected);
}

static void an_address_with_two_prefix_lengths_is_one_source(void **state)
{
    (void)state;
    list_address("10.0.0.2");
    list_address("10.0.0.1");
    list_address("10.0.0.2");
    list_address("10.0.0.1");
    assert_int_equal(source_list_add(&plan, INTERFACE, error), 0);
    assert_int_equal(plan.n_addresses, 2);
    assert_source(0, "10.0.0.2");
    assert_source(1, "10.0.0.1");
}

static void an_address_given_again_is_refused(void **state)
{
    (void)state;
    list_address("10.0.0.1");
    assert_int_equal(source_list_add(&plan, INTERFACE ",10.0.0.1", error), -1);
    assert_non_null(strstr(error, "only once"));
}

static void link_local_addresses_are_left_out(void **state)
{
    (void)state;
    list_address("fe80::1");
    list_address("fd00::1");
    list_address("fd00::2");
    assert_int_equal(source_list_add(&plan, INTERFACE, error), 0);
    assert_int_equal(plan.n_addresses, 2);
    assert_source(0, "fd00::1");
    assert_source(1, "fd00::2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_address_with_two_prefix_lengths_is_one_source, teardown),
        cmocka_unit_test_teardown(an_address_given_again_is_refused, teardown),
        cmocka_unit_test_teardown(link_local_addresses_are_left_out, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
