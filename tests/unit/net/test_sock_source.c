/* SPDX-License-Identifier: MIT
 * test_sock_source: which addresses a connection can have, and whether there is a route from them.
 * Sends nothing.  Linked with --wrap=connect and
 * --wrap=bind. */
#include "net/sock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int answer, bind_answer; /* of connect(2) and bind(2): an errno; 0: the kernel's */
static struct sock_address bound;

/* Called by net/sock. */
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t length);
int __real_connect(int fd, const struct sockaddr *to, socklen_t length);

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t length)
{
    if (answer == 0)
        return __real_connect(fd, to, length);
    errno = answer;
    return -1;
}

int __wrap_bind(int fd, const struct sockaddr *to, socklen_t length);
int __real_bind(int fd, const struct sockaddr *to, socklen_t length);

/* Likewise. */
int __wrap_bind(int fd, const struct sockaddr *to, socklen_t length)
{
    bound.length = length;
    memcpy(&bound.ss, to, length);
    if (bind_answer == 0)
        return __real_bind(fd, to, length);
    errno = bind_answer;
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

static void an_address_that_is_not_unicast_cannot_be_a_source(void **state)
{
    static const char *const not_unicast[] = {"0.0.0.0", "224.0.0.1", "239.255.255.255",
                                              "255.255.255.255", "127.255.255.255"};
    static const char *const usable[] = {"127.0.0.1", "127.0.0.5", "127.255.255.254"};

    (void)state;
    for (size_t i = 0; i < sizeof not_unicast / sizeof *not_unicast; i++)
        if (test(AF_INET, not_unicast[i]) != SOCK_SOURCE_NOT_UNICAST)
            fail_msg("%s", not_unicast[i]);
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
    assert_int_equal(test(AF_INET6, "::"), SOCK_SOURCE_NOT_UNICAST);
    assert_int_equal(test(AF_INET6, "ff02::1"), SOCK_SOURCE_NOT_UNICAST);
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

/* A link-local address needs the interface: its own, or else the target's. */
static void the_source_is_bound_with_its_port_and_interface(void **state)
{
    static const struct {
        const char *address;
        uint32_t scope, scope_of_target, bound;
    } cases[] = {{"fe80::1", 7, 3, 7}, {"fe80::1", 0, 3, 3}, {"2001:db8::1", 0, 3, 0}};
    const struct sock_connect_options options = {.datagrams = true};
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&bound.ss;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct srcplan_tuple source = {.address = address_of(AF_INET6, cases[i].address),
                                       .port = 9};
        struct sock_address target = target_of(AF_INET6, "fe80::2");
        struct outcome failed;

        source.address.scope = cases[i].scope;
        ((struct sockaddr_in6 *)&target.ss)->sin6_scope_id = cases[i].scope_of_target;
        bind_answer = EADDRNOTAVAIL;
        if (sock_connect(&target, &source, &options, &failed) != -1 || failed.phase != PHASE_BIND)
            skip(); /* no IPv6 */
        assert_int_equal(failed.reason, REASON_UNREACHABLE);
        assert_int_equal(bound.length, sizeof *in6);
        assert_int_equal(in6->sin6_family, AF_INET6);
        assert_memory_equal(&in6->sin6_addr, source.address.bytes, 16);
        assert_int_equal(in6->sin6_scope_id, cases[i].bound);
        assert_int_equal(ntohs(in6->sin6_port), 9);
    }
    bind_answer = 0;
}

static void an_address_that_cannot_be_bound_is_foreign(void **state)
{
    (void)state;
    bind_answer = EADDRNOTAVAIL;
    assert_int_equal(test(AF_INET, "127.0.0.5"), SOCK_SOURCE_FOREIGN);
    bind_answer = EACCES; /* says nothing of the address */
    assert_int_equal(test(AF_INET, "127.0.0.5"), SOCK_SOURCE_USABLE);
    bind_answer = 0;
}

static void from_loopback_only_loopback_is_reached(void **state)
{
    (void)state;
    answer = EINVAL;
    assert_int_equal(test(AF_INET, "127.0.0.5"), SOCK_SOURCE_LOOPBACK);
    answer = ENETUNREACH; /* for another reason */
    assert_int_equal(test(AF_INET, "127.0.0.5"), SOCK_SOURCE_USABLE);
    answer = 0;
}

static void a_target_needs_an_address_of_its_family(void **state)
{
    static const struct {
        int error;
        bool has;
    } cases[] = {{0, true}, {EADDRNOTAVAIL, false}, {ENETUNREACH, true}};
    const struct sock_address target = target_of(AF_INET, "127.0.0.1");
    struct sock_address source;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        answer = cases[i].error;
        assert_int_equal(sock_has_local_address(&target), cases[i].has);
        assert_int_equal(sock_route_source(&target, &source), answer == 0 ? 0 : -1);
        assert_true(answer == 0 || errno == answer);
    }
    answer = 0;
}

static void a_group_is_no_target(void **state)
{
    static const struct {
        const char *address;
        bool is_group;
    } cases[] = {{"224.0.0.1", true},
                 {"255.255.255.255", true},
                 {"127.255.255.255", true},
                 {"127.0.0.1", false}};
    const struct sock_address group6 = target_of(AF_INET6, "ff02::1");

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sock_address target = target_of(AF_INET, cases[i].address);

        if (sock_is_of_group(&target) != cases[i].is_group)
            fail_msg("%s", cases[i].address);
    }
    assert_true(sock_is_of_group(&group6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_that_is_not_unicast_cannot_be_a_source),
        cmocka_unit_test(ipv6_has_a_wildcard_and_multicast),
        cmocka_unit_test(a_route_is_missing_if_the_kernel_says_so),
        cmocka_unit_test(a_connection_without_a_route_says_so),
        cmocka_unit_test(the_source_is_bound_with_its_port_and_interface),
        cmocka_unit_test(an_address_that_cannot_be_bound_is_foreign),
        cmocka_unit_test(from_loopback_only_loopback_is_reached),
        cmocka_unit_test(a_target_needs_an_address_of_its_family),
        cmocka_unit_test(a_group_is_no_target),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
