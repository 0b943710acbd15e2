/* SPDX-License-Identifier: MIT
 * test_sock: what sockets that listen or connect are set to, and where they connect from.
 * --wrap=setsockopt */
#include "net/sock.h"

#include "loopback_steps.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

enum { SNDBUF_BYTES = 65536, RCVBUF_BYTES = 32768 }; /* the kernel doubles them, socket(7) */

static const struct srcplan_tuple any_source;

/* Last set. */
static int stamps_flags, v6_only;

/* Called by net/sock. */
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t length);
int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t length);

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
    if (level == SOL_SOCKET && name == SO_TIMESTAMPING)
        stamps_flags = *(const int *)value;
    if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY)
        v6_only = *(const int *)value;
    return __real_setsockopt(fd, level, name, value, length);
}

/* 127.0.0.X, with a port. */
static struct srcplan_tuple source(uint8_t last_byte, uint16_t port)
{
    return (struct srcplan_tuple){.address = {.family = AF_INET, .bytes = {127, 0, 0, last_byte}},
                                  .port = port};
}

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t length = sizeof value;

    assert_int_equal(getsockopt(fd, level, name, &value, &length), 0);
    return value;
}

/* Listens on a free port of 127.0.0.1.  Sets *a to it. */
static int listen_on(struct sock_address *a, const struct sock_listen_options *options)
{
    const struct sock_address any_port = loopback(0);
    const int fd = sock_listen(&any_port, options);

    assert_true(fd >= 0);
    assert_int_equal(sock_local_address(fd, a), 0);
    assert_true(sock_port(a) > 0);
    return fd;
}

static int listen_plainly(struct sock_address *a)
{
    return listen_on(a, &(struct sock_listen_options){.backlog = 8});
}

/* Connects, and waits for the end of it. */
static int connect_from(const struct srcplan_tuple *from, const struct sock_address *to,
                        const struct sock_connect_options *options)
{
    struct outcome failed;
    const int fd = sock_connect(to, from, options, &failed);
    struct pollfd writable = {.fd = fd, .events = POLLOUT};

    assert_true(fd >= 0);
    assert_int_equal(poll(&writable, 1, -1), 1);
    return fd;
}

static int accept_one(int fd)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};

    assert_int_equal(poll(&readable, 1, -1), 1);
    return accept(fd, NULL, NULL);
}

static void accepted_sockets_have_what_the_listener_has(void **state)
{
    struct sock_address a;
    const int fd = listen_on(&a, &(struct sock_listen_options){.backlog = 8,
                                                               .sndbuf_bytes = SNDBUF_BYTES,
                                                               .rcvbuf_bytes = RCVBUF_BYTES,
                                                               .reuse_port = true});
    const int client = connect_from(&any_source, &a, &(struct sock_connect_options){0});
    const int peer = accept_one(fd), fds[] = {fd, peer};

    (void)state;
    assert_true(peer >= 0);
    assert_int_equal(option(fd, SOL_SOCKET, SO_REUSEADDR), 1);
    assert_int_equal(option(fd, SOL_SOCKET, SO_REUSEPORT), 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(option(fds[i], IPPROTO_TCP, TCP_NODELAY), 1);
        assert_int_equal(option(fds[i], SOL_SOCKET, SO_SNDBUF), 2 * SNDBUF_BYTES);
        assert_int_equal(option(fds[i], SOL_SOCKET, SO_RCVBUF), 2 * RCVBUF_BYTES);
    }
    close(peer);
    close(client);
    close(fd);
}

static void a_port_is_shared_on_request_only(void **state)
{
    const struct sock_listen_options alone = {.backlog = 8},
                                     shared = {.backlog = 8, .reuse_port = true};
    struct sock_address a;
    const int first = listen_plainly(&a);
    int second;

    (void)state;
    assert_int_equal(option(first, SOL_SOCKET, SO_REUSEPORT), 0);
    assert_int_equal(sock_listen(&a, &shared), -1);
    assert_int_equal(errno, EADDRINUSE);
    assert_int_equal(sock_share_port(first), 0);
    assert_int_equal(sock_listen(&a, &alone), -1);
    second = sock_listen(&a, &shared);
    assert_true(second >= 0);
    close(second);
    close(first);
}

static void a_wildcard_accepts_ipv4_too(void **state)
{
    struct sock_address any = {.length = sizeof(struct sockaddr_in6)}, v4;
    int fd, client;

    (void)state;
    any.ss.ss_family = AF_INET6;
    v6_only = 1; /* as net.ipv6.bindv6only may be */
    fd = sock_listen(&any, &(struct sock_listen_options){.backlog = 8});
    if (fd < 0)
        skip(); /* no IPv6 */
    assert_int_equal(v6_only, 0);
    assert_int_equal(option(fd, IPPROTO_IPV6, IPV6_V6ONLY), 0);
    assert_int_equal(sock_local_address(fd, &any), 0);
    v4 = loopback(sock_port(&any));
    client = connect_from(&any_source, &v4, &(struct sock_connect_options){0});
    assert_int_equal(sock_error(client), 0);
    close(client);
    close(fd);
}

static void connections_have_the_options_and_the_source_of_their_plan(void **state)
{
    const struct sock_connect_options options = {.sndbuf_bytes = SNDBUF_BYTES,
                                                 .rcvbuf_bytes = RCVBUF_BYTES};
    const struct srcplan_tuple from = source(5, 0);
    struct srcplan_tuple own;
    struct sock_address a;
    const int fd = listen_plainly(&a), client = connect_from(&from, &a, &options);

    (void)state;
    assert_int_equal(sock_error(client), 0);
    assert_true(sock_is_connected(client));
    assert_false(sock_is_its_own_peer(client));
    assert_int_equal(option(client, SOL_SOCKET, SO_REUSEADDR), 1);
    assert_int_equal(option(client, IPPROTO_TCP, TCP_NODELAY), 1);
    assert_int_equal(option(client, SOL_SOCKET, SO_SNDBUF), 2 * SNDBUF_BYTES);
    assert_int_equal(option(client, SOL_SOCKET, SO_RCVBUF), 2 * RCVBUF_BYTES);
    sock_local_tuple(client, &own);
    assert_int_equal(own.address.family, AF_INET);
    assert_memory_equal(own.address.bytes, from.address.bytes, 4);
    assert_true(own.port > 0);
    close(client);
    close(fd);
}

static void what_arrives_is_stamped_on_request_only(void **state)
{
    const struct sock_address a = loopback(9);

    (void)state;
    for (int stamps = 0; stamps < 2; stamps++) {
        const struct sock_connect_options options = {.datagrams = true, .stamp_received = stamps};

        stamps_flags = 0;
        close(connect_from(&any_source, &a, &options));
        assert_int_equal(stamps_flags != 0, stamps);
    }
}

static void acknowledgements_are_immediate_on_request(void **state)
{
    struct sock_address a;
    const int fd = listen_plainly(&a), off = 0,
              client = connect_from(&any_source, &a, &(struct sock_connect_options){0});

    (void)state;
    assert_int_equal(setsockopt(client, IPPROTO_TCP, TCP_QUICKACK, &off, sizeof off), 0);
    assert_int_equal(option(client, IPPROTO_TCP, TCP_QUICKACK), 0);
    sock_quickack(client);
    assert_int_equal(option(client, IPPROTO_TCP, TCP_QUICKACK), 1);
    close(client);
    close(fd);
}

static void without_descriptors_there_is_no_socket(void **state)
{
    const struct sock_address a = loopback(9);
    struct rlimit usual, none;
    struct outcome failed;
    int client, listener;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    client = sock_connect(&a, &any_source, &(struct sock_connect_options){0}, &failed);
    listener = sock_listen(&a, &(struct sock_listen_options){.backlog = 8});
    assert_true(sock_has_local_address(&a)); /* unknown */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_int_equal(client, -1);
    assert_int_equal(failed.phase, PHASE_SOCKET);
    assert_int_equal(failed.reason, outcome_reason_of_errno(EMFILE));
    assert_int_equal(listener, -1);
}

static void a_tuple_in_use_lacks_ports(void **state)
{
    const struct srcplan_tuple from = source(5, 0);
    struct srcplan_tuple taken;
    struct sock_address a;
    struct outcome failed;
    const int fd = listen_plainly(&a),
              first = connect_from(&from, &a, &(struct sock_connect_options){0});

    (void)state;
    sock_local_tuple(first, &taken);
    assert_int_equal(sock_connect(&a, &taken, &(struct sock_connect_options){0}, &failed), -1);
    assert_true(failed.phase == PHASE_BIND || failed.phase == PHASE_CONNECT);
    assert_int_equal(failed.reason, REASON_PORTS);
    close(first);
    close(fd);
}

static void a_refused_connect_has_its_error(void **state)
{
    struct sock_address a = loopback(0);
    const int fd = socket(AF_INET, SOCK_STREAM, 0); /* keeps the port from others */
    int client;

    (void)state;
    assert_int_equal(bind(fd, (const struct sockaddr *)&a.ss, a.length), 0);
    assert_int_equal(sock_local_address(fd, &a), 0);
    client = connect_from(&any_source, &a, &(struct sock_connect_options){0});
    assert_int_equal(sock_error(client), ECONNREFUSED);
    assert_false(sock_is_connected(client));
    assert_false(sock_is_its_own_peer(client));
    close(client);
    assert_int_equal(sock_error(client), EBADF);
    close(fd);
}

static void a_port_that_connects_to_itself_is_found(void **state)
{
    struct srcplan_tuple own;
    struct sock_address a;
    int fd = listen_plainly(&a);

    (void)state;
    sock_local_tuple(fd, &own);
    close(fd);
    fd = connect_from(&own, &a, &(struct sock_connect_options){0});
    assert_int_equal(sock_error(fd), 0);
    assert_true(sock_is_its_own_peer(fd));
    close(fd);
}

static void datagrams_share_no_port(void **state)
{
    const struct sock_address a = loopback(9);
    struct srcplan_tuple own = source(1, 0);
    const struct sock_connect_options options = {.datagrams = true, .sndbuf_bytes = SNDBUF_BYTES};
    const int first = connect_from(&own, &a, &options);
    struct outcome failed;

    (void)state;
    assert_int_equal(option(first, SOL_SOCKET, SO_TYPE), SOCK_DGRAM);
    assert_int_equal(option(first, SOL_SOCKET, SO_SNDBUF), 2 * SNDBUF_BYTES);
    assert_true(sock_is_connected(first));
    sock_local_tuple(first, &own);
    assert_int_equal(sock_connect(&a, &own, &options, &failed), -1);
    assert_int_equal(failed.phase, PHASE_BIND);
    assert_int_equal(failed.reason, REASON_PORTS);
    close(first);
}

static void what_is_no_tcp_has_no_state_of_it(void **state)
{
    const struct sock_tcp t = sock_tcp(-1);
    struct srcplan_tuple own = source(1, 1);

    (void)state;
    assert_int_equal(t.retransmits | t.duplicates | t.min_rtt_us | t.idle_ms | t.timeouts, 0);
    assert_int_equal(t.unheard_ms, UINT32_MAX);
    sock_local_tuple(-1, &own);
    assert_int_equal(own.address.family, AF_UNSPEC);
}

static void the_kernel_reaches_loopback_from_loopback(void **state)
{
    const struct sock_address target = loopback(9);
    struct sock_address from;

    (void)state;
    assert_true(sock_has_local_address(&target));
    assert_int_equal(sock_route_source(&target, &from), 0);
    assert_int_equal(((const struct sockaddr_in *)&from.ss)->sin_addr.s_addr,
                     htonl(INADDR_LOOPBACK));
    assert_int_equal(sock_port(&from), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_sockets_have_what_the_listener_has),
        cmocka_unit_test(a_port_is_shared_on_request_only),
        cmocka_unit_test(a_wildcard_accepts_ipv4_too),
        cmocka_unit_test(connections_have_the_options_and_the_source_of_their_plan),
        cmocka_unit_test(what_arrives_is_stamped_on_request_only),
        cmocka_unit_test(acknowledgements_are_immediate_on_request),
        cmocka_unit_test(without_descriptors_there_is_no_socket),
        cmocka_unit_test(a_tuple_in_use_lacks_ports),
        cmocka_unit_test(a_refused_connect_has_its_error),
        cmocka_unit_test(a_port_that_connects_to_itself_is_found),
        cmocka_unit_test(datagrams_share_no_port),
        cmocka_unit_test(what_is_no_tcp_has_no_state_of_it),
        cmocka_unit_test(the_kernel_reaches_loopback_from_loopback),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
