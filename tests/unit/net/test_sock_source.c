/* SPDX-License-Identifier: MIT
 * test_sock_source: which addresses a connection can have, and whether there is a route from them.
 * Sends nothing.  --wrap=connect */
#include "net/sock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int answer; /* of connect(2) */

/* Called by sock_test_route(). */
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t length);
int __real_connect(int fd, const struct sockaddr *to, socklen_t length);

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t length)
{
    if (answer == 0)
        return __real_connect(fd, to, length);
    errno = answer;
    return -1;
}

static struct srcplan_address address_of(int family, const char *text)
{
    struct srcplan_address a = {.family = family};

    assert_int_equal(inet_pton(family, text, a.bytes), 1);
    return a;
}

static struct sock_address target_of(int family, const char *text)
{
    const struct srcplan_tuple tuple = {.address = address_of(family, text), .port = 4242};
    struct sock_address target;

    sock_set_tuple(&target, &tuple);
    return target;
}

static enum sock_source test(int family, const char *source)
{
    const struct srcplan_address a = address_of(family, source);
    const struct sock_address target = target_of(family, family == AF_INET ? "127.0.0.1" : "::1");

    return sock_test_source(&a, &target);
}

static void an_address_of_no_host_cannot_be_a_source(void **state)
{
    static const char *const of_none[] = {"0.0.0.0", "224.0.0.1", "239.255.255.255",
                                          "255.255.255.255", "127.255.255.255"};
    static const char *const usable[] = {"127.0.0.1", "127.0.0.5", "127.255.255.254"};

    (void)state;
    for (size_t i = 0; i < sizeof of_none / sizeof *of_none; i++)
        if (test(AF_INET, of_none[i]) != SOCK_SOURCE_OF_NONE)
            fail_msg("%s", of_none[i]);
    for (size_t i = 0; i < sizeof usable / sizeof *usable; i++)
        if (test(AF_INET, usable[i]) != SOCK_SOURCE_USABLE)
            fail_msg("%s", usable[i]);
}

static void ipv6_has_a_wildcard_and_multicast(void **state)
{
    const int fd = socket(AF_INET6, SOCK_DGRAM, 0);

    (void)state;
    if (fd < 0)
        skip();
    close(fd);
    assert_int_equal(test(AF_INET6, "::"), SOCK_SOURCE_OF_NONE);
    assert_int_equal(test(AF_INET6, "ff02::1"), SOCK_SOURCE_OF_NONE);
}

/* Other errors do not say that there is none. */
static void a_route_is_missing_if_the_kernel_says_so(void **state)
{
    static const struct {
        int error;
        enum sock_route route;
    } cases[] = {{0, SOCK_ROUTE_FOUND},           {ENETUNREACH, SOCK_ROUTE_NONE},
                 {EHOSTUNREACH, SOCK_ROUTE_NONE}, {EINVAL, SOCK_ROUTE_NONE}, /* type blackhole */
                 {EACCES, SOCK_ROUTE_DENIED},     {EADDRNOTAVAIL, SOCK_ROUTE_FOUND}};
    const struct srcplan_tuple sources[] = {
        {.address.family = AF_UNSPEC, .port = 1},
        {.address = address_of(AF_INET, "127.0.0.5"), .port = 1}};
    const struct sock_address target = target_of(AF_INET, "127.0.0.1");

    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        answer = cases[i / 2].error;
        if (sock_test_route(&target, &sources[i % 2]) != cases[i / 2].route)
            fail_msg("errno %d", cases[i / 2].error);
    }
    answer = 0;
}

static void a_connection_without_a_route_says_so(void **state)
{
    static const int errors[] = {ENETUNREACH, EHOSTUNREACH, EINVAL};
    const struct srcplan_tuple source = {.address.family = AF_UNSPEC};
    const struct sock_connect_options options = {.datagrams = false};
    const struct sock_address target = target_of(AF_INET, "127.0.0.1");
    struct outcome failed;

    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        answer = errors[i];
        assert_int_equal(sock_connect(&target, &source, &options, &failed), -1);
        assert_int_equal(failed.phase, PHASE_CONNECT);
        assert_int_equal(failed.reason, REASON_ROUTE);
    }
    answer = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_of_no_host_cannot_be_a_source),
        cmocka_unit_test(ipv6_has_a_wildcard_and_multicast),
        cmocka_unit_test(a_route_is_missing_if_the_kernel_says_so),
        cmocka_unit_test(a_connection_without_a_route_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
