/* SPDX-License-Identifier: MIT
 * test_listeners: listening on a host without IPv6, and on a port that another server wants. */
#include "server/listeners.h"

#include "base/log.h"
#include "print_steps.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { LISTENERS = 2 };

/* Called by net/sock. */
int socket(int family, int type, int protocol)
{
    if (family != AF_INET6)
        return (int)syscall(SYS_socket, family, type, protocol);
    errno = EAFNOSUPPORT;
    return -1;
}

/* Calls of listen(2) until another server starts; < 0: none does. */
static int n_until_another = -1;
static void open_another(void);

static bool no_port_is_free;

/* Likewise. */
int listen(int fd, int backlog)
{
    if (no_port_is_free) {
        errno = EADDRINUSE;
        return -1;
    }
    if (n_until_another-- == 0)
        open_another();
    return (int)syscall(SYS_listen, fd, backlog);
}

static void close_listeners(struct server_listeners *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        close(l->fds[i]);
    server_listeners_free(l);
}

static void both_families_are_ipv4(void **state)
{
    const struct server_opts opts = {.bind = "::", .backlog = 8};
    struct server_listeners l = {.n = 0};

    (void)state;
    assert_int_equal(server_listeners_open(&l, &opts, LISTENERS), 0);
    assert_int_equal(l.address.ss.ss_family, AF_INET);
    close_listeners(&l);
}

static void a_port_of_another_server_is_refused(void **state)
{
    struct server_opts opts = {.bind = "::", .backlog = 8};
    struct server_listeners first = {.n = 0}, second = {.n = 0};

    (void)state;
    assert_int_equal(server_listeners_open(&first, &opts, LISTENERS), 0);
    opts.port = sock_port(&first.address);
    assert_int_equal(server_listeners_open(&second, &opts, LISTENERS), -1);
    server_listeners_free(&second);
    close_listeners(&first);
}

static void assert_refused(uint16_t port, const char *message)
{
    const struct server_opts opts = {.bind = "127.0.0.1", .bind_given = true, .port = port};
    struct server_listeners l = {.n = 0};
    char *text;

    no_port_is_free = true;
    log_set_stream(print_open());
    assert_int_equal(server_listeners_open(&l, &opts, LISTENERS), -1);
    log_set_stream(NULL);
    no_port_is_free = false;
    text = print_close();
    assert_has(text, message);
    free(text);
    server_listeners_free(&l);
}

static void a_lack_of_ports_is_told_from_a_port_in_use(void **state)
{
    (void)state;
    assert_refused(0, "cannot listen on 127.0.0.1:0: Address already in use (all ports of "
                      "net.ipv4.ip_local_port_range are in use)\n");
    assert_refused(4242, "cannot listen on 127.0.0.1:4242: Address already in use\n");
}

static struct server_opts wanted = {.bind = "::", .backlog = 8};
static struct server_listeners another;
static int opened_another;

static void open_another(void)
{
    opened_another = server_listeners_open(&another, &wanted, LISTENERS);
}

static void close_if_open(struct server_listeners *l, int failed)
{
    if (failed)
        server_listeners_free(l);
    else
        close_listeners(l);
}

static void one_of_two_servers_that_start_at_once_is_refused(void **state)
{
    struct server_listeners one = {.n = 0};

    (void)state;
    n_until_another = -1;
    assert_int_equal(server_listeners_open(&one, &wanted, LISTENERS), 0);
    wanted.port = sock_port(&one.address); /* free, very probably */
    close_listeners(&one);
    for (int i = 0; i < LISTENERS; i++) {
        int failed;

        n_until_another = i;
        failed = server_listeners_open(&one, &wanted, LISTENERS);
        assert_int_equal((failed == 0) + (opened_another == 0), 1);
        close_if_open(&one, failed);
        close_if_open(&another, opened_another);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_families_are_ipv4),
        cmocka_unit_test(a_port_of_another_server_is_refused),
        cmocka_unit_test(a_lack_of_ports_is_told_from_a_port_in_use),
        cmocka_unit_test(one_of_two_servers_that_start_at_once_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
