/* SPDX-License-Identifier: MIT
 * test_netdev: the interface towards a target, and whether the target is here, in a network
 * namespace with addresses of its own. */
#include "host/netdev.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

static const struct srcplan_tuple any = {.address.family = AF_UNSPEC};
static bool has_namespace; /* and the kernel says its routes */

static struct sock_address address(const char *text)
{
    struct sock_address a = {.length = sizeof(struct sockaddr_in6)};
    struct sockaddr_in *in = (struct sockaddr_in *)&a.ss;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a.ss;

    a.ss.ss_family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
    assert_int_equal(
        inet_pton(a.ss.ss_family, text,
                  a.ss.ss_family == AF_INET6 ? (void *)&in6->sin6_addr : (void *)&in->sin_addr),
        1);
    return a;
}

static bool is_here(const char *text)
{
    const struct sock_address a = address(text);

    return netdev_target_is_here(&a);
}

/* The alias "lo:2" of lo gets the address, of a network of 256. */
static int add_address(int fd, const char *alias, const char *text)
{
    struct ifreq request = {0};
    struct sockaddr_in in = {.sin_family = AF_INET};

    strncpy(request.ifr_name, alias, sizeof request.ifr_name - 1);
    (void)inet_pton(AF_INET, text, &in.sin_addr);
    memcpy(&request.ifr_addr, &in, sizeof in);
    if (ioctl(fd, SIOCSIFADDR, &request) != 0)
        return -1;
    (void)inet_pton(AF_INET, "255.255.255.0", &in.sin_addr);
    memcpy(&request.ifr_netmask, &in, sizeof in);
    return ioctl(fd, SIOCSIFNETMASK, &request);
}

static int enter_namespace(void **state)
{
    struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    const struct sock_address loopback = address("127.0.0.1");
    char name[NETDEV_NAME_BYTES];
    int fd;

    (void)state;
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return 0;
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    has_namespace = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &up) == 0 &&
                    add_address(fd, "lo:1", "198.51.100.1") == 0 &&
                    add_address(fd, "lo:2", "198.51.100.2") == 0 &&
                    netdev_towards(&loopback, &any, false, name) == 0;
    close(fd);
    return 0;
}

static void loopback_and_the_address_that_is_all_zero_are_here(void **state)
{
    static const char *const here[] = {"127.0.0.1",        "127.9.9.9", "::1",
                                       "::ffff:127.0.0.1", "0.0.0.0",   "::"};

    (void)state;
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        if (!is_here(here[i]))
            fail_msg("%s", here[i]);
}

/* The kernel connects to the second one from the first one. */
static void each_address_of_this_host_is_here_and_no_other(void **state)
{
    static const char *const here[] = {"198.51.100.1", "198.51.100.2", "::ffff:198.51.100.2"};
    static const char *const elsewhere[] = {"203.0.113.1", "2001:db8::1", "::ffff:203.0.113.1",
                                            "fe80::1"};

    (void)state;
    if (!has_namespace)
        skip();
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        if (!is_here(here[i]))
            fail_msg("%s", here[i]);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (is_here(elsewhere[i]))
            fail_msg("%s", elsewhere[i]);
}

static void packets_to_this_host_leave_through_lo(void **state)
{
    static const char *const here[] = {"127.0.0.1", "198.51.100.2", "::ffff:198.51.100.2"};
    char name[NETDEV_NAME_BYTES];

    (void)state;
    if (!has_namespace)
        skip();
    for (size_t i = 0; i < sizeof here / sizeof *here; i++) {
        const struct sock_address a = address(here[i]);

        assert_int_equal(netdev_towards(&a, &any, false, name), 0);
        assert_string_equal(name, "lo");
    }
}

static void an_address_without_a_route_has_no_interface(void **state)
{
    const struct sock_address a = address("203.0.113.1");
    char name[NETDEV_NAME_BYTES];

    (void)state;
    if (!has_namespace)
        skip();
    assert_int_equal(netdev_towards(&a, &any, false, name), -1);
}

/* Adds a rule that prohibits what has this attribute, FRA_IP_PROTO or FRA_SRC, of 4 bytes at most,
 * before all others but that of this host's addresses. */
static bool prohibit(unsigned short type, const void *value, uint8_t n_bytes)
{
    struct {
        struct nlmsghdr header;
        struct fib_rule_hdr rule;
        struct rtattr attribute;
        uint8_t value[4];
    } request = {
        .header = {sizeof request, RTM_NEWRULE,
                   NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, 0, 0},
        .rule = {.family = AF_INET, .action = FR_ACT_PROHIBIT, .src_len = type == FRA_SRC ? 32 : 0},
        .attribute = {(unsigned short)RTA_LENGTH(n_bytes), type}};
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
        char rest[256];
    } answer = {.error.error = -1};
    const int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    bool is_answered;

    memcpy(request.value, value, n_bytes);
    is_answered = send(fd, &request, sizeof request, 0) > 0 &&
                  recv(fd, &answer, sizeof answer, 0) >= (ssize_t)NLMSG_LENGTH(4);
    close(fd);
    return is_answered && answer.error.error == 0;
}

static enum sock_route route_from(const char *source, const char *target)
{
    const struct sock_address from = address(source), to = address(target);
    const struct srcplan_tuple tuple = sock_tuple(&from);

    return netdev_test_route(&to, &tuple);
}

static void the_route_of_tcp_may_be_another_than_that_of_udp(void **state)
{
    const struct sock_address neighbour = address("198.51.100.77"), far = address("203.0.113.1");
    const uint8_t tcp = IPPROTO_TCP;
    char name[NETDEV_NAME_BYTES];

    (void)state;
    if (!has_namespace)
        skip();
    assert_int_equal(netdev_test_route(&neighbour, &any), SOCK_ROUTE_FOUND);
    assert_int_equal(netdev_test_route(&far, &any), SOCK_ROUTE_NONE);
    assert_int_equal(route_from("198.51.100.2", "198.51.100.77"), SOCK_ROUTE_FOUND);
    assert_int_equal(route_from("198.51.100.2", "203.0.113.1"), SOCK_ROUTE_NONE);
    assert_int_equal(route_from("::1", "::1"), SOCK_ROUTE_FOUND);
    assert_int_equal(route_from("::1", "2001:db8::1"), SOCK_ROUTE_NONE);
    if (!prohibit(FRA_IP_PROTO, &tcp, sizeof tcp))
        skip();
    assert_int_equal(netdev_test_route(&far, &any), SOCK_ROUTE_DENIED);
    assert_int_equal(route_from("198.51.100.2", "203.0.113.1"), SOCK_ROUTE_DENIED);
    assert_int_equal(sock_test_route(&far, &any), SOCK_ROUTE_NONE);
    assert_int_equal(netdev_towards(&far, &any, false, name), -1);
    assert_int_equal(errno, EACCES);
    assert_int_equal(netdev_towards(&far, &any, true, name), -1);
    assert_int_equal(errno, ENETUNREACH);
}

static void a_rule_may_be_about_the_source(void **state)
{
    const struct sock_address far = address("203.0.113.1"), one = address("198.51.100.1"),
                              other = address("198.51.100.2"),
                              mapped = address("::ffff:198.51.100.1");
    const struct srcplan_tuple from_one = sock_tuple(&one), from_other = sock_tuple(&other),
                               from_mapped = sock_tuple(&mapped);
    char name[NETDEV_NAME_BYTES];

    (void)state;
    if (!has_namespace || !prohibit(FRA_SRC, from_one.address.bytes, 4))
        skip();
    assert_int_equal(netdev_test_route(&far, &from_one), SOCK_ROUTE_DENIED);
    assert_int_equal(netdev_test_route(&far, &from_other), SOCK_ROUTE_NONE);
    assert_int_equal(netdev_towards(&far, &from_one, false, name), -1);
    assert_int_equal(errno, EACCES);
    assert_int_equal(netdev_towards(&far, &from_other, false, name), -1);
    assert_int_equal(errno, ENETUNREACH);
    assert_int_equal(netdev_towards(&one, &from_other, false, name), 0);
    assert_string_equal(name, "lo");
    assert_int_equal(netdev_towards(&mapped, &from_mapped, false, name), 0);
}

/* What leaves through lo arrives there. */
static void both_directions_are_counted(void **state)
{
    const struct sock_address loopback = address("127.0.0.1");
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct netdev_counters lo = {0};

    (void)state;
    if (!has_namespace) {
        close(fd);
        skip();
    }
    assert_int_equal(connect(fd, (const struct sockaddr *)&loopback.ss, loopback.length), 0);
    assert_int_equal(send(fd, "x", 1, 0), 1);
    assert_int_equal(netdev_read("lo", &lo), 0);
    assert_true(lo.tx_packets > 0 && lo.tx_bytes > lo.tx_packets);
    assert_int_equal(lo.rx_packets, lo.tx_packets);
    assert_int_equal(lo.rx_bytes, lo.tx_bytes);
    assert_int_equal(netdev_read("l", &lo), -1);
    close(fd);
}

/* The last test: lo stays down. */
static void an_interface_is_down_until_it_is_set_up(void **state)
{
    struct ifreq down = {.ifr_name = "lo", .ifr_flags = 0};
    int fd;

    (void)state;
    if (!has_namespace)
        skip();
    assert_false(netdev_is_down("lo"));
    assert_false(netdev_is_down("none"));
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &down), 0);
    close(fd);
    assert_true(netdev_is_down("lo"));
}

static void an_interface_that_was_created_again_counts_from_zero(void **state)
{
    static const struct netdev_counters earlier = {5, 5, 5, 5};

    (void)state;
    assert_true(netdev_counts_on(&earlier, &earlier));
    assert_true(netdev_counts_on(&(struct netdev_counters){6, 6, 6, 6}, &earlier));
    assert_false(netdev_counts_on(&(struct netdev_counters){4, 6, 6, 6}, &earlier));
    assert_false(netdev_counts_on(&(struct netdev_counters){6, 4, 6, 6}, &earlier));
    assert_false(netdev_counts_on(&(struct netdev_counters){6, 6, 4, 6}, &earlier));
    assert_false(netdev_counts_on(&(struct netdev_counters){6, 6, 6, 4}, &earlier));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loopback_and_the_address_that_is_all_zero_are_here),
        cmocka_unit_test(each_address_of_this_host_is_here_and_no_other),
        cmocka_unit_test(packets_to_this_host_leave_through_lo),
        cmocka_unit_test(an_address_without_a_route_has_no_interface),
        cmocka_unit_test(a_rule_may_be_about_the_source),
        cmocka_unit_test(the_route_of_tcp_may_be_another_than_that_of_udp),
        cmocka_unit_test(both_directions_are_counted),
        cmocka_unit_test(an_interface_is_down_until_it_is_set_up),
        cmocka_unit_test(an_interface_that_was_created_again_counts_from_zero),
    };

    return cmocka_run_group_tests(tests, enter_namespace, NULL);
}
