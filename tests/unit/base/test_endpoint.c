/* SPDX-License-Identifier: MIT
 * test_endpoint: hosts and ports as people write them. */
#include "base/endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void hosts_come_with_and_without_a_port(void **state)
{
    static const struct {
        const char *text, *host;
        uint16_t port;
    } good[] = {
        {"example.com", "example.com", 0}, {"10.0.0.1:53", "10.0.0.1", 53}, {"::1", "::1", 0},
        {"fe80::1:2", "fe80::1:2", 0},     {"[::1]:53", "::1", 53},         {"[::1]", "::1", 0},
        {"host:65535", "host", 65535},     {"host:1", "host", 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        struct endpoint e = {.port = 7};

        assert_int_equal(endpoint_parse(good[i].text, &e), 0);
        assert_string_equal(e.host, good[i].host);
        assert_int_equal(e.port, good[i].port);
    }
}

static void what_is_not_a_host_is_refused_and_writes_nothing(void **state)
{
    static const char *const bad[] = {
        "",     ":53",    "host:", "host:0", "host:65536", "host:x", "host:-1",
        "[::1", "[::1]x", "[]",    "[]:53",  "[::1]:0",    "[::1]:", "host:99999999999",
    };
    struct endpoint e = {.host = "before", .port = 7};

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (endpoint_parse(bad[i], &e) == 0)
            fail_msg("'%s' is accepted", bad[i]);
        assert_string_equal(e.host, "before");
        assert_int_equal(e.port, 7);
    }
}

static void longest_host_fits_and_one_more_does_not(void **state)
{
    char text[ENDPOINT_HOST_BYTES + 1];
    struct endpoint e;

    (void)state;
    memset(text, 'a', sizeof text);
    text[ENDPOINT_HOST_BYTES - 1] = '\0';
    assert_int_equal(endpoint_parse(text, &e), 0);
    assert_string_equal(e.host, text);
    text[ENDPOINT_HOST_BYTES - 1] = 'a';
    text[ENDPOINT_HOST_BYTES] = '\0';
    assert_int_equal(endpoint_parse(text, &e), -1);
}

static void zero_is_a_port_only_where_allowed(void **state)
{
    uint16_t port = 7;

    (void)state;
    assert_int_equal(endpoint_parse_port("0", 0, &port), -1);
    assert_int_equal(port, 7);
    assert_int_equal(endpoint_parse_port("0", 1, &port), 0);
    assert_int_equal(port, 0);
    assert_int_equal(endpoint_parse_port("65536", 1, &port), -1);
    assert_int_equal(endpoint_parse_port("", 1, &port), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_come_with_and_without_a_port),
        cmocka_unit_test(what_is_not_a_host_is_refused_and_writes_nothing),
        cmocka_unit_test(longest_host_fits_and_one_more_does_not),
        cmocka_unit_test(zero_is_a_port_only_where_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
