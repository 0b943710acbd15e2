/* SPDX-License-Identifier: MIT
 * test_spare: what becomes of waiting connections when the fd table is full.  The limit of
 * descriptors fills it. */
#include "server/spare.h"

#include "net/sock.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static struct server_spare spare;
static struct rlimit limit_before;
static int listener_fd, client_fd;

/* The lowest number that is free. */
static int first_free(void)
{
    const int fd = dup(STDERR_FILENO);

    assert_true(fd >= 0);
    close(fd);
    return fd;
}

/* n more descriptors can be opened. */
static void leave_room_for(unsigned n)
{
    struct rlimit limit = limit_before;

    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit_before), 0);
    limit.rlim_cur = (rlim_t)first_free() + n;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* A connection waits. */
static int setup(void **state)
{
    const struct sock_listen_options options = {.backlog = 8};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sock_address address = {.length = sizeof in};

    (void)state;
    getrlimit(RLIMIT_NOFILE, &limit_before);
    memcpy(&address.ss, &in, sizeof in);
    listener_fd = sock_listen(&address, &options);
    assert_true(listener_fd >= 0);
    assert_int_equal(sock_local_address(listener_fd, &address), 0);
    client_fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(
        connect(client_fd, (const struct sockaddr *)(const void *)&address.ss, address.length), 0);
    server_spare_open(&spare, 0);
    assert_true(spare.fd >= 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    setrlimit(RLIMIT_NOFILE, &limit_before);
    server_spare_close(&spare);
    close(client_fd);
    close(listener_fd);
    return 0;
}

static void a_full_table_refuses_with_a_reset(void **state)
{
    char byte;

    (void)state;
    leave_room_for(0);
    assert_int_equal(server_spare_accept(&spare, listener_fd, NULL), -1);
    assert_int_equal(errno, EMFILE);
    assert_int_equal(server_spare_refuse(&spare, listener_fd), 0);
    assert_int_equal(recv(client_fd, &byte, 1, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    assert_true(spare.fd >= 0);
    assert_int_equal(server_spare_refuse(&spare, listener_fd), -1);
    assert_int_equal(errno, EAGAIN);
}

static void errors_of_a_connection_or_a_descriptor_are_no_exhaustion(void **state)
{
    static const int exhausted[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM};
    static const int others[] = {EAGAIN, ECONNABORTED, EINVAL, EBADF, ENOSPC, 0};

    (void)state;
    for (size_t i = 0; i < sizeof exhausted / sizeof *exhausted; i++)
        assert_true(server_spare_is_exhaustion(exhausted[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(server_spare_is_exhaustion(others[i]));
}

static void the_last_descriptor_becomes_the_spare_one_again(void **state)
{
    (void)state;
    close(spare.fd);
    spare.fd = -1;
    leave_room_for(1);
    assert_int_equal(server_spare_accept(&spare, listener_fd, NULL), -1);
    assert_int_equal(errno, EMFILE);
    assert_true(spare.fd >= 0);
    assert_int_equal(server_spare_refuse(&spare, listener_fd), 0);
}

static void no_connection_is_accepted_without_a_spare_descriptor(void **state)
{
    struct sock_address peer = {.length = 0};
    int fd;

    (void)state;
    close(spare.fd);
    spare.fd = -1;
    leave_room_for(0);
    assert_int_equal(server_spare_accept(&spare, listener_fd, NULL), -1);
    assert_int_equal(errno, EMFILE);
    leave_room_for(2);
    fd = server_spare_accept(&spare, listener_fd, &peer);
    assert_true(fd >= 0);
    assert_int_equal(peer.ss.ss_family, AF_INET);
    assert_int_equal(peer.length, sizeof(struct sockaddr_in));
    close(fd);
}

static void reserved_descriptors_serve_no_connection(void **state)
{
    int fd;

    (void)state;
    spare.n_kept = 3;
    leave_room_for(3);
    assert_int_equal(server_spare_accept(&spare, listener_fd, NULL), -1);
    assert_int_equal(errno, EMFILE);
    leave_room_for(4);
    fd = server_spare_accept(&spare, listener_fd, NULL);
    assert_true(fd >= 0);
    assert_int_equal(server_spare_accept(&spare, listener_fd, NULL), -1);
    assert_int_equal(errno, EMFILE);
    close(fd);
    assert_int_equal(server_spare_accept(&spare, listener_fd, NULL), -1);
    assert_int_equal(errno, EAGAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_a_connection_or_a_descriptor_are_no_exhaustion),
        cmocka_unit_test_setup_teardown(a_full_table_refuses_with_a_reset, setup, teardown),
        cmocka_unit_test_setup_teardown(the_last_descriptor_becomes_the_spare_one_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(no_connection_is_accepted_without_a_spare_descriptor, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(reserved_descriptors_serve_no_connection, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
