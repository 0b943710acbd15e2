/* SPDX-License-Identifier: MIT
 * test_sock_tcp: what the state of a TCP connection says of its peer. */
#include "net/sock.h"

#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static int client = -1, server = -1; /* the ends of a connection over loopback */

static int setup(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);

    (void)state;
    assert_int_equal(bind(listener, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, length), 0);
    server = accept(listener, NULL, NULL);
    return close(listener);
}

static int teardown(void **state)
{
    (void)state;
    sock_reset_on_close(client);
    return close(client) | close(server);
}

static void sleep_for_a_moment(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static bool is_in_flight(void)
{
    struct tcp_info info = {0};
    socklen_t length = sizeof info;

    assert_int_equal(getsockopt(client, IPPROTO_TCP, TCP_INFO, &info, &length), 0);
    return info.tcpi_unacked > 0;
}

/* Until the server's window is closed, and nothing is in flight. */
static void send_until_full(void)
{
    static const char bytes[65536];
    bool was_room = true;

    while (was_room || is_in_flight()) {
        sleep_for_a_moment();
        was_room = send(client, bytes, sizeof bytes, MSG_DONTWAIT) > 0;
    }
}

static void drop_all_packets_to(int fd)
{
    struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
    const struct sock_fprog filter = {.len = 1, .filter = &nothing};

    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0)
        return;
    assert_int_equal(errno, EPERM);
    skip(); /* some kernels leave filters to root */
}

static void wait_until_it_times_out(void)
{
    for (int i = 0; i < 3000 && sock_tcp(client).timeouts == 0; i++)
        sleep_for_a_moment();
    assert_true(sock_tcp(client).timeouts > 0);
}

/* qemu-user passes on only the first bytes of it. */
static void need_whole_info(void)
{
    struct tcp_info info;
    socklen_t length = sizeof info;

    if (getsockopt(client, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 && length == sizeof(int))
        skip();
}

static void a_peer_that_acknowledges_causes_no_timeouts(void **state)
{
    (void)state;
    need_whole_info();
    assert_int_equal(send(client, "query", 5, 0), 5);
    while (sock_has_unacknowledged(client))
        sleep_for_a_moment();
    assert_int_equal(sock_tcp(client).timeouts, 0);
}

static void data_in_flight_times_out(void **state)
{
    (void)state;
    need_whole_info();
    drop_all_packets_to(server);
    assert_int_equal(send(client, "query", 5, 0), 5);
    wait_until_it_times_out();
}

static void data_that_was_never_sent_times_out_too(void **state)
{
    (void)state;
    need_whole_info();
    send_until_full();
    drop_all_packets_to(server);
    wait_until_it_times_out();
}

static void received_data_does_not_change_the_time_since_sending(void **state)
{
    const uint32_t some_ms = 30; /* more than a tick of the kernel's clock */
    char byte;

    (void)state;
    need_whole_info();
    assert_int_equal(send(client, "query", 5, 0), 5);
    while (sock_tcp(client).unsent_ms < some_ms)
        sleep_for_a_moment();
    assert_int_equal(send(server, "!", 1, 0), 1);
    assert_int_equal(recv(client, &byte, 1, 0), 1);
    assert_true(sock_tcp(client).unsent_ms >= some_ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_peer_that_acknowledges_causes_no_timeouts, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(data_in_flight_times_out, setup, teardown),
        cmocka_unit_test_setup_teardown(data_that_was_never_sent_times_out_too, setup, teardown),
        cmocka_unit_test_setup_teardown(received_data_does_not_change_the_time_since_sending, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
