/* SPDX-License-Identifier: MIT
 * test_sock_info: what is read from TCP_INFO.  Linked with --wrap=getsockopt. */
#include "net/sock.h"

#include <errno.h>
#include <linux/tcp.h> /* glibc's tcp_info has only the first fields */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct tcp_info *info; /* NULL: the kernel does not say */

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *n_bytes);

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *n_bytes)
{
    (void)fd;
    assert_int_equal(level, IPPROTO_TCP);
    assert_int_equal(name, TCP_INFO);
    errno = ENOPROTOOPT;
    if (info == NULL)
        return -1;
    assert_int_equal(*n_bytes, sizeof *info);
    memcpy(value, info, sizeof *info);
    return 0;
}

static void each_figure_is_that_of_the_kernel(void **state)
{
    const struct tcp_info seen = {
        .tcpi_total_retrans = 7,
        .tcpi_dsack_dups = 3,
        .tcpi_min_rtt = 42,
        .tcpi_last_data_recv = 500,
        .tcpi_last_data_sent = 200,
        .tcpi_retransmits = 4,
        .tcpi_probes = 2,
    };
    struct sock_tcp t;

    (void)state;
    info = &seen;
    t = sock_tcp(0);
    assert_int_equal(t.retransmits, 7);
    assert_int_equal(t.duplicates, 3);
    assert_int_equal(t.min_rtt_us, 42);
    assert_int_equal(t.idle_ms, 200); /* since data was sent */
    assert_int_equal(t.unheard_ms, 500);
    assert_int_equal(t.timeouts, 4 + 2);
}

static void what_was_received_last_ends_idleness(void **state)
{
    const struct tcp_info seen = {.tcpi_last_data_recv = 100, .tcpi_last_data_sent = 200};

    (void)state;
    info = &seen;
    assert_int_equal(sock_tcp(0).idle_ms, 100);
    assert_int_equal(sock_tcp(0).unheard_ms, 100);
}

/* Before the first measurement of a round trip, tcp_min_rtt() is ~0U. */
static void what_the_kernel_does_not_know_is_unknown(void **state)
{
    const struct tcp_info seen = {.tcpi_min_rtt = UINT32_MAX};
    struct sock_tcp t;

    (void)state;
    info = &seen;
    assert_int_equal(sock_tcp(0).min_rtt_us, 0);
    info = NULL;
    t = sock_tcp(0);
    assert_int_equal(t.retransmits | t.duplicates | t.min_rtt_us | t.idle_ms | t.timeouts, 0);
    assert_int_equal(t.unheard_ms, UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_figure_is_that_of_the_kernel),
        cmocka_unit_test(what_was_received_last_ends_idleness),
        cmocka_unit_test(what_the_kernel_does_not_know_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
