/* SPDX-License-Identifier: MIT
 * test_sock_address: text, port, loopback and tuple of IPv4 and IPv6 addresses. */
#include "net/sock_address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct sock_address address_of(const char *text, uint16_t port)
{
    struct sock_address a = {0};
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&a.ss;

    if (strchr(text, ':') == NULL) {
        a.ss.ss_family = AF_INET;
        a.length = sizeof(struct sockaddr_in);
        assert_int_equal(inet_pton(AF_INET, text, &((struct sockaddr_in *)&a.ss)->sin_addr), 1);
    } else {
        a.ss.ss_family = AF_INET6;
        a.length = sizeof *six;
        assert_int_equal(inet_pton(AF_INET6, text, &six->sin6_addr), 1);
    }
    sock_set_port(&a, port);
    return a;
}

static void assert_text(const struct sock_address *a, const char *expected)
{
    char text[SOCK_TEXT_BYTES];

    assert_string_equal(sock_format(text, a), expected);
}

static void addresses_are_printed_with_their_port(void **state)
{
    struct sock_address a = address_of("10.1.2.3", 53), b = address_of("2001:db8::1", 65535);

    (void)state;
    assert_text(&a, "10.1.2.3:53");
    assert_text(&b, "[2001:db8::1]:65535");
    assert_int_equal(sock_port(&a), 53);
    sock_set_port(&a, 4242);
    sock_set_port(&b, 1);
    assert_text(&a, "10.1.2.3:4242");
    assert_text(&b, "[2001:db8::1]:1");
}

static void link_local_addresses_are_printed_with_their_interface(void **state)
{
    struct sock_address a = address_of("fe80::1", 1);
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&a.ss;

    (void)state;
    six->sin6_scope_id = if_nametoindex("lo");
    assert_int_not_equal(six->sin6_scope_id, 0);
    assert_text(&a, "[fe80::1%lo]:1");
    six->sin6_scope_id = UINT32_MAX; /* no such interface */
    assert_text(&a, "[fe80::1]:1");
}

static void loopback_includes_all_of_127_and_its_mapped_addresses(void **state)
{
    static const struct {
        const char *text;
        bool is_loopback;
    } cases[] = {
        {"127.0.0.1", true},
        {"127.255.255.254", true},
        {"126.255.255.255", false},
        {"128.0.0.1", false},
        {"0.0.0.0", false},
        {"::1", true},
        {"::ffff:127.0.0.9", true},
        {"::ffff:10.0.0.1", false},
        {"::127.0.0.1", false},
        {"::2", false},
        {"::", false},
        {"fe80::1", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sock_address a = address_of(cases[i].text, 1);

        if (sock_is_loopback(&a) != cases[i].is_loopback)
            fail_msg("%s", cases[i].text);
    }
}

static void only_link_local_addresses_need_an_interface(void **state)
{
    struct sock_address link_local = address_of("fe80::1", 1), far = address_of("febf:ffff::1", 1),
                        site_local = address_of("fec0::1", 1),
                        global = address_of("2001:db8::1", 1), ipv4 = address_of("169.254.0.1", 1);

    (void)state;
    assert_true(sock_lacks_interface(&link_local));
    assert_true(sock_lacks_interface(&far));
    assert_false(sock_lacks_interface(&site_local));
    assert_false(sock_lacks_interface(&global));
    assert_false(sock_lacks_interface(&ipv4));
    ((struct sockaddr_in6 *)&link_local.ss)->sin6_scope_id = 1;
    assert_false(sock_lacks_interface(&link_local));
}

static void tuples_have_the_address_in_network_order_and_the_port_in_host_order(void **state)
{
    struct sock_address a = address_of("10.1.2.3", 53), b = address_of("2001:db8::1", 853);
    struct srcplan_tuple t = sock_tuple(&a);

    (void)state;
    assert_int_equal(t.address.family, AF_INET);
    assert_memory_equal(t.address.bytes, "\12\1\2\3", 4);
    assert_int_equal(t.port, 53);
    t = sock_tuple(&b);
    assert_int_equal(t.address.family, AF_INET6);
    assert_memory_equal(t.address.bytes, "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
    assert_int_equal(t.port, 853);
}

static void address_of_a_tuple_has_that_tuple(void **state)
{
    static const char *const texts[] = {"10.1.2.3", "2001:db8::1"};
    struct sock_address b;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct sock_address a = address_of(texts[i], 853);
        const struct srcplan_tuple t = sock_tuple(&a);

        sock_set_tuple(&b, &t);
        assert_int_equal(b.length, a.length);
        assert_memory_equal(&b.ss, &a.ss, a.length);
    }
    sock_set_tuple(&b, &(struct srcplan_tuple){.address.family = AF_UNSPEC});
    assert_int_equal(b.length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(address_of_a_tuple_has_that_tuple),
        cmocka_unit_test(addresses_are_printed_with_their_port),
        cmocka_unit_test(link_local_addresses_are_printed_with_their_interface),
        cmocka_unit_test(loopback_includes_all_of_127_and_its_mapped_addresses),
        cmocka_unit_test(only_link_local_addresses_need_an_interface),
        cmocka_unit_test(tuples_have_the_address_in_network_order_and_the_port_in_host_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
