/* SPDX-License-Identifier: MIT
 * test_port_sockets: the listeners of a port. */
#include "host/watch/port_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
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

/* The second SYN is dropped, and repeated until somebody accepts. */
static void drops_are_those_of_the_listeners_of_the_port(void **state)
{
    struct sockaddr_in full, other;
    const int full_fd = listen_anywhere(&full), other_fd = listen_anywhere(&other);
    int fds[2];

    (void)state;
    assert_int_equal(listeners_of(&full).drops, 0);
    for (int i = 0; i < 2; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        assert_true(fds[i] >= 0);
        (void)connect(fds[i], (struct sockaddr *)&full, sizeof full);
    }
    while (listeners_of(&full).drops == 0)
        usleep(1000);
    assert_int_equal(listeners_of(&full).n, 1);
    assert_int_equal(listeners_of(&full).queue, 1);
    assert_int_equal(listeners_of(&other).n, 1);
    assert_int_equal(listeners_of(&other).drops, 0);
    for (int i = 0; i < 2; i++)
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
