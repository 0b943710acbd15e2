/* SPDX-License-Identifier: MIT
 * test_sources: the source tuples that a run has. */
#include "client/sources.h"

#include "host/sockdiag.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static struct client_config config;
static struct sockaddr_in *target;

static int setup(void **state)
{
    (void)state;
    config = (struct client_config){.target.length = sizeof *target};
    target = (struct sockaddr_in *)&config.target.ss;
    target->sin_family = AF_INET;
    target->sin_port = htons(1);
    target->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    client_sources_free(&config);
    return 0;
}

static uint64_t tuples_of_range(uint64_t first, uint64_t last)
{
    const struct host_limits host = {.first_ephemeral_port = first, .last_ephemeral_port = last};
    struct client_sources s = {0};

    client_sources_free(&config);
    assert_int_equal(client_sources_fit_target(&s, &config, "127.0.0.1:1", &host), 0);
    return s.n_tuples;
}

static void ignore(void *context, uint16_t port)
{
    (void)context;
    (void)port;
}

/* Returns a socket that is bound to a free port. */
static int bind_anywhere(int type, uint32_t address, uint16_t *port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
    socklen_t length = sizeof in;
    const int fd = socket(AF_INET, type, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof in), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &length), 0);
    *port = ntohs(in.sin_port);
    return fd;
}

/* The same for a socket of IPv6 and an address of IPv4; -1 if this host has no IPv6. */
static int bind_mapped_anywhere(int type, uint32_t address, uint16_t *port)
{
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_addr.s6_addr = {[10] = 0xff, 0xff}};
    socklen_t length = sizeof in6;
    const int fd = socket(AF_INET6, type, 0), off = 0;

    if (fd < 0)
        return -1;
    in6.sin6_addr.s6_addr32[3] = htonl(address);
    assert_int_equal(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&in6, sizeof in6), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&in6, &length), 0);
    *port = ntohs(in6.sin6_port);
    return fd;
}

/* Returns a socket that listens on a free port. */
static int listen_anywhere(uint16_t *port)
{
    const int fd = bind_anywhere(SOCK_STREAM, INADDR_LOOPBACK, port);

    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

static void ports_of_listeners_are_none_of_the_kernels_choice(void **state)
{
    uint16_t port;
    int fd;

    (void)state;
    if (sockdiag_listeners(ignore, NULL) != 0)
        skip(); /* a container may forbid it */
    fd = listen_anywhere(&port);
    assert_int_equal(tuples_of_range(port, port), 0);
    close(fd);
}

static void ports_that_all_listen_are_refused(void **state)
{
    const struct host_limits host = {.first_unprivileged_port = 1024};
    struct client_sources s = {0};
    struct client_opts o = {.source = "127.0.0.5"};
    char ports[16];
    uint16_t port;
    int fd;

    (void)state;
    if (sockdiag_listeners(ignore, NULL) != 0)
        skip();
    fd = listen_anywhere(&port);
    snprintf(ports, sizeof ports, "%u", port);
    o.sport = ports;
    assert_int_equal(client_sources_read(&s, &config, &o, &host), -1);
    assert_int_equal(s.n_excluded_ports, 1);
    close(fd);
}

static void a_range_that_is_unknown_leaves_the_tuples_unknown(void **state)
{
    (void)state;
    assert_true(tuples_of_range(HOST_LIMITS_UNKNOWN, HOST_LIMITS_UNKNOWN) == HOST_LIMITS_UNKNOWN);
}

static void without_a_fallback_the_range_counts(void **state)
{
    (void)state;
    target->sin_addr.s_addr = htonl(INADDR_BROADCAST); /* without a route for connect(2) */
    assert_int_equal(tuples_of_range(32768, 60999), 28232);
}

/* The only tuple is that of a connection from this port.  Closes both sockets. */
static void fit_the_tuple_in_use(struct client_sources *s, const struct host_limits *host,
                                 uint16_t own_port, int fd, int listener)
{
    struct client_opts o = {.source = "127.0.0.1"};
    char ports[16];

    snprintf(ports, sizeof ports, "%u", own_port);
    o.sport = ports;
    assert_int_equal(client_sources_read(s, &config, &o, host), 0);
    assert_int_equal(client_sources_fit_target(s, &config, "127.0.0.1:1", host), 0);
    close(fd);
    close(listener);
    if (s->n_time_wait == HOST_LIMITS_UNKNOWN)
        skip(); /* a container may forbid sock_diag(7) */
}

/* Before, it was counted as available, and no connection could have it. */
static void a_port_of_another_connection_to_the_target_is_in_use(void **state)
{
    const struct host_limits host = {.sockets_in_use = 2};
    struct client_sources s = {0};
    uint16_t port, own_port;
    const int listener = listen_anywhere(&port);
    const int fd = bind_anywhere(SOCK_STREAM, INADDR_LOOPBACK, &own_port);

    (void)state;
    target->sin_port = htons(port);
    assert_int_equal(connect(fd, (struct sockaddr *)target, sizeof *target), 0);
    fit_the_tuple_in_use(&s, &host, own_port, fd, listener);
    assert_int_equal(s.n_tuples, 1);
    assert_int_equal(s.n_in_use, 1);
}

/* Clients in Java have sockets of IPv6 for both families. */
static void a_port_of_an_ipv6_socket_that_is_connected_with_ipv4_is_in_use(void **state)
{
    const struct host_limits host = {.sockets_in_use = 2};
    struct client_sources s = {0};
    struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_addr.s6_addr = {[10] = 0xff, 0xff}};
    uint16_t port, own_port;
    const int fd = bind_mapped_anywhere(SOCK_STREAM, INADDR_LOOPBACK, &own_port);
    int listener;

    (void)state;
    if (fd < 0)
        skip();
    listener = listen_anywhere(&port);
    target->sin_port = to.sin6_port = htons(port);
    to.sin6_addr.s6_addr32[3] = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    fit_the_tuple_in_use(&s, &host, own_port, fd, listener);
    assert_int_equal(s.n_tuples, 1);
    assert_int_equal(s.n_in_use, 1);
}

/* Fits the port of a UDP socket that is bound to 127.0.0.1 and not connected. */
static uint64_t udp_ports_in_use(int fd, uint16_t own_port)
{
    static const struct host_limits host;
    struct client_sources s = {0};
    uint16_t unused;
    const int other = bind_anywhere(SOCK_DGRAM, INADDR_LOOPBACK, &unused);

    config.socket.datagrams = true;
    fit_the_tuple_in_use(&s, &host, own_port, fd, other);
    assert_int_equal(s.n_tuples, 1);
    return s.n_in_use;
}

/* Such as a DNS server's. */
static void a_port_of_a_bound_udp_socket_is_in_use(void **state)
{
    uint16_t port;
    int fd;

    (void)state;
    if (sockdiag_udp_ports(true, ignore, NULL) != 0)
        skip();
    fd = bind_anywhere(SOCK_DGRAM, INADDR_LOOPBACK, &port);
    assert_int_equal(udp_ports_in_use(fd, port), 1);
}

static void a_port_of_an_ipv6_udp_socket_bound_to_ipv4_is_in_use(void **state)
{
    uint16_t port;
    int fd;

    (void)state;
    if (sockdiag_udp_ports(true, ignore, NULL) != 0)
        skip();
    fd = bind_mapped_anywhere(SOCK_DGRAM, INADDR_LOOPBACK, &port);
    if (fd < 0)
        skip();
    assert_int_equal(udp_ports_in_use(fd, port), 1);
}

/* Of UDP, whatever its peer. */
static void a_port_of_another_connected_udp_socket_is_in_use(void **state)
{
    static const struct host_limits host;
    struct client_sources s = {0};
    uint16_t peer_port, own_port;
    const int peer = bind_anywhere(SOCK_DGRAM, INADDR_LOOPBACK, &peer_port);
    const int fd = bind_anywhere(SOCK_DGRAM, INADDR_LOOPBACK, &own_port);

    (void)state;
    if (sockdiag_udp_ports(true, ignore, NULL) != 0)
        skip();
    config.socket.datagrams = true;
    target->sin_port = htons(peer_port);
    assert_int_equal(connect(fd, (struct sockaddr *)target, sizeof *target), 0);
    target->sin_port = htons(1);
    fit_the_tuple_in_use(&s, &host, own_port, fd, peer);
    assert_int_equal(s.n_tuples, 1);
    assert_int_equal(s.n_in_use, 1);
}

/* Two classes with equally many connections: to a port without other connections, and to this one.
 */
static void tuples_in_use_count_towards_the_port_with_the_fewest_to_spare(void **state)
{
    const struct host_limits host = {.sockets_in_use = 2, .tcp_timestamps = 1};
    struct client_class classes[2] = {{.n_connections = 1}, {.n_connections = 1}};
    struct client_sources s = {0};
    uint16_t port, own_port;
    const int listener = listen_anywhere(&port);
    const int fd = bind_anywhere(SOCK_STREAM, INADDR_LOOPBACK, &own_port);

    (void)state;
    classes[0].target = config.target;
    target->sin_port = htons(port);
    classes[1].target = config.target;
    config.classes = classes;
    config.n_classes = 2;
    config.n_connections = 2;
    assert_int_equal(connect(fd, (struct sockaddr *)target, sizeof *target), 0);
    target->sin_port = htons(1);
    fit_the_tuple_in_use(&s, &host, own_port, fd, listener);
    assert_int_equal(s.n_in_use, 1);
    assert_int_equal(s.n_elsewhere, 1);
}

static void without_tuples_in_use_the_larger_class_counts(void **state)
{
    const struct host_limits host = {.first_ephemeral_port = 40000, .last_ephemeral_port = 40009};
    struct client_class classes[2] = {{.n_connections = 3}, {.n_connections = 4}};
    struct client_sources s = {0};

    (void)state;
    classes[0].target = classes[1].target = config.target;
    sock_set_port(&classes[1].target, 2);
    config.classes = classes;
    config.n_classes = 2;
    config.n_connections = 7;
    assert_int_equal(client_sources_fit_target(&s, &config, "127.0.0.1:1", &host), 0);
    assert_int_equal(s.n_elsewhere, 3);
}

/* The kernel selects a port before the address. */
static void ports_of_udp_sockets_are_none_of_the_kernels_choice(void **state)
{
    uint16_t port;
    int fd;

    (void)state;
    if (sockdiag_udp_ports(true, ignore, NULL) != 0)
        skip();
    config.socket.datagrams = true;
    fd = bind_anywhere(SOCK_DGRAM, INADDR_LOOPBACK + 1, &port);
    assert_int_equal(tuples_of_range(port, port), 0);
    close(fd);
}

/* Returns whether a socket that is bound to `taken` leaves its port to UDP sockets of a source. */
static bool leaves_port(uint32_t taken, const char *source)
{
    const struct host_limits host = {.first_unprivileged_port = 1024};
    struct client_sources s = {0};
    struct client_opts o = {.source = source};
    char ports[16];
    uint16_t port;
    const int fd = bind_anywhere(SOCK_DGRAM, taken, &port);
    int failed;

    snprintf(ports, sizeof ports, "%u", port);
    o.sport = ports;
    client_sources_free(&config);
    failed = client_sources_read(&s, &config, &o, &host);
    close(fd);
    return failed == 0;
}

static void a_udp_socket_takes_its_port_of_its_own_address_or_of_all(void **state)
{
    (void)state;
    if (sockdiag_udp_ports(true, ignore, NULL) != 0)
        skip();
    config.socket.datagrams = true;
    assert_true(leaves_port(INADDR_LOOPBACK, "127.0.0.5"));
    assert_false(leaves_port(INADDR_ANY, "127.0.0.5"));
    assert_false(leaves_port(INADDR_LOOPBACK, NULL)); /* the kernel chooses the address */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ports_of_listeners_are_none_of_the_kernels_choice),
        TEST(ports_that_all_listen_are_refused),
        TEST(a_range_that_is_unknown_leaves_the_tuples_unknown),
        TEST(without_a_fallback_the_range_counts),
        TEST(a_port_of_another_connection_to_the_target_is_in_use),
        TEST(a_port_of_an_ipv6_socket_that_is_connected_with_ipv4_is_in_use),
        TEST(a_port_of_a_bound_udp_socket_is_in_use),
        TEST(a_port_of_an_ipv6_udp_socket_bound_to_ipv4_is_in_use),
        TEST(a_port_of_another_connected_udp_socket_is_in_use),
        TEST(tuples_in_use_count_towards_the_port_with_the_fewest_to_spare),
        TEST(without_tuples_in_use_the_larger_class_counts),
        TEST(ports_of_udp_sockets_are_none_of_the_kernels_choice),
        TEST(a_udp_socket_takes_its_port_of_its_own_address_or_of_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
