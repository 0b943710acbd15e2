/* SPDX-License-Identifier: MIT
 * test_client_proxy: the header of a connection, and of one that only tests the server. */
#include "client/worker/proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void set_target(struct client_config *config, int family, const char *address)
{
    struct sockaddr_in *in = (struct sockaddr_in *)&config->target.ss;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&config->target.ss;

    config->target.ss.ss_family = (sa_family_t)family;
    sock_set_port(&config->target, 53);
    assert_int_equal(inet_pton(family, address,
                               family == AF_INET ? (void *)&in->sin_addr : (void *)&in6->sin6_addr),
                     1);
}

/* Of connection 3. */
static void assert_line(const char *sources, int family, const char *target, const char *expected)
{
    struct client_config config = {.proxy = PROXY_HEADER_V1};
    char error[SRCPLAN_ERROR_BYTES];
    uint8_t out[PROXY_HEADER_V1_MAX_BYTES];

    srcplan_init(&config.identities);
    assert_int_equal(srcplan_add_sources(&config.identities, sources, error), 0);
    set_target(&config, family, target);
    assert_int_equal(client_proxy_header(&config, &config.target, 3, out), strlen(expected));
    assert_memory_equal(out, expected, strlen(expected));
    srcplan_free(&config.identities);
}

static void header_names_the_identity_and_the_target(void **state)
{
    (void)state;
    assert_line("10.0.0.0-10.0.0.1", AF_INET, "192.0.2.1",
                "PROXY TCP4 10.0.0.1 192.0.2.1 1025 53\r\n");
    assert_line("fd00::/120", AF_INET6, "2001:db8::1",
                "PROXY TCP6 fd00::3 2001:db8::1 1024 53\r\n");
}

static void ipv4_address_is_mapped_if_the_other_is_ipv6(void **state)
{
    (void)state;
    assert_line("10.0.0.1", AF_INET6, "2001:db8::1",
                "PROXY TCP6 ::ffff:10.0.0.1 2001:db8::1 1027 53\r\n");
    assert_line("fd00::1", AF_INET, "192.0.2.1", "PROXY TCP6 fd00::1 ::ffff:192.0.2.1 1027 53\r\n");
}

static void a_test_of_the_server_greets_without_a_client(void **state)
{
    static const char v2[] = "\r\n\r\n\0\r\nQUIT\n\x20\0\0";
    const struct client_config none = {.proxy = PROXY_HEADER_NONE},
                               one = {.proxy = PROXY_HEADER_V1}, two = {.proxy = PROXY_HEADER_V2};
    struct sock_greeting greeting = client_proxy_greeting(&none);

    (void)state;
    assert_int_equal(greeting.n_bytes, 0);
    greeting = client_proxy_greeting(&one);
    assert_int_equal(greeting.n_bytes, strlen("PROXY UNKNOWN\r\n"));
    assert_memory_equal(greeting.bytes, "PROXY UNKNOWN\r\n", greeting.n_bytes);
    greeting = client_proxy_greeting(&two);
    assert_int_equal(greeting.n_bytes, sizeof v2);
    assert_memory_equal(greeting.bytes, v2, sizeof v2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_names_the_identity_and_the_target),
        cmocka_unit_test(ipv4_address_is_mapped_if_the_other_is_ipv6),
        cmocka_unit_test(a_test_of_the_server_greets_without_a_client),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
