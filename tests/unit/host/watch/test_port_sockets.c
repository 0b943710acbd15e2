/* SPDX-License-Identifier: MIT
 * test_port_sockets: the listeners of a port. */
#include "host/watch/port_sockets.h"

#include "sock_diag_steps.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* Returns a socket that listens on a free port, with room for one connection. */
static int listen_anywhere(struct sockaddr_in *address)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t n_bytes = sizeof *address;

    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)address, sizeof *address), 0);
    assert_int_equal(listen(fd, 0), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &n_bytes), 0);
    return fd;
}

static struct port_listeners listeners_of(const struct sockaddr_in *address)
{
    struct port_listeners l;

    assert_int_equal(port_listeners_read(&l, ntohs(address->sin_port)), 0);
    return l;
}

/* From now on, the packets over loopback are received in the order in which they are sent: each CPU
 * has one queue of them. */
static void stay_on_one_cpu(void)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET((unsigned)sched_getcpu(), &cpus);
    assert_int_equal(sched_setaffinity(0, sizeof cpus, &cpus), 0);
}

/* Returns a socket that has sent its SYN; it is connected if `blocks`. */
static int connect_to(const struct sockaddr_in *address, bool blocks)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | (blocks ? 0 : SOCK_NONBLOCK), 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)address, sizeof *address),
                     blocks ? 0 : -1);
    return fd;
}

/* The second SYN is dropped before the third is received. */
static void drops_are_those_of_the_listeners_of_the_port(void **state)
{
    struct sockaddr_in full, other;
    const int full_fd = listen_anywhere(&full), other_fd = listen_anywhere(&other);
    int fds[3];

    (void)state;
    if (!has_sock_diag())
        skip();
    stay_on_one_cpu();
    assert_int_equal(listeners_of(&full).drops, 0);
    fds[0] = connect_to(&full, true);
    fds[1] = connect_to(&full, false);
    fds[2] = connect_to(&other, true);
    assert_int_equal(listeners_of(&full).drops, 1);
    assert_int_equal(listeners_of(&full).n, 1);
    assert_int_equal(listeners_of(&full).queue, 1);
    assert_int_equal(listeners_of(&other).n, 1);
    assert_int_equal(listeners_of(&other).drops, 0);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    close(full_fd);
    close(other_fd);
    assert_int_equal(listeners_of(&full).n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_are_those_of_the_listeners_of_the_port),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
