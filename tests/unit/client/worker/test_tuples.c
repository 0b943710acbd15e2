/* SPDX-License-Identifier: MIT
 * test_tuples: how many source tuples are tried at a time, and which of them each destination has.
 */
#undef _GNU_SOURCE /* with it, glibc declares bind(2) with a transparent union */
#define _DEFAULT_SOURCE

#include "client/worker/tuples.h"

#include "client/worker/class.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { FIRST_PORT = 20000, N_CONNS = 10, MOST_PER_CALL = 8 };

static struct client_config config;
static struct client_tuples tuples;
static _Atomic uint64_t spare;
static struct sock_address target;
static int listener, n_binds, free_port, bound_fd;
static bool kernel_has_no_port;

/* All ports but one are in use. */
int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    if (fd == listener)
        return (int)syscall(SYS_bind, fd, address, length);
    n_binds++;
    bound_fd = fd;
    if (kernel_has_no_port)
        return 0;
    if (ntohs(((const struct sockaddr_in *)address)->sin_port) == free_port)
        return 0;
    errno = EADDRINUSE;
    return -1;
}

/* Without a free port, the kernel connects only sockets that are bound. */
int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    if (!kernel_has_no_port)
        return (int)syscall(SYS_connect, fd, address, length);
    errno = fd == bound_fd ? EINPROGRESS : EADDRNOTAVAIL;
    return -1;
}

static int setup(void **state)
{
    struct sockaddr_in *in = (struct sockaddr_in *)&target.ss;
    char error[SRCPLAN_ERROR_BYTES];

    (void)state;
    target = (struct sock_address){.length = sizeof *in};
    *in = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)in, sizeof *in) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)in, &target.length) != 0)
        return -1;
    config = (struct client_config){.quiet = true, .spare_tuple = &spare};
    srcplan_init(&config.plan);
    if (srcplan_add_ports(&config.plan, "20000-29999", error) != 0)
        return -1;
    spare = N_CONNS;
    n_binds = free_port = 0;
    client_tuples_init(&tuples, &config, 0, N_CONNS, true);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    client_tuples_free(&tuples);
    srcplan_free(&config.plan);
    return close(listener);
}

/* Returns a socket or -1, and the number of calls. */
static int search(int *n_calls, uint64_t *tuple, struct outcome *failed)
{
    int fd;

    *n_calls = 0;
    do {
        n_binds = 0;
        fd = client_tuples_connect(&tuples, &target, tuple, failed);
        assert_in_range(n_binds, 0, MOST_PER_CALL + 64); /* and used ones */
        ++*n_calls;
    } while (fd < 0 && failed->reason == REASON_PORTS && errno == EAGAIN);
    return fd;
}

static void a_call_tries_some_of_many_tuples(void **state)
{
    struct outcome failed;
    uint64_t tuple;

    (void)state;
    assert_int_equal(client_tuples_connect(&tuples, &target, &tuple, &failed), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(failed.reason, REASON_PORTS);
    assert_int_equal(n_binds, MOST_PER_CALL);
}

static void further_calls_try_the_others(void **state)
{
    struct outcome failed;
    uint64_t tuple;
    int n_calls, fd;

    (void)state;
    free_port = FIRST_PORT + 9000;
    fd = search(&n_calls, &tuple, &failed);
    assert_true(fd >= 0);
    assert_int_equal(tuple, 9000);
    assert_in_range(n_calls, 9000 / MOST_PER_CALL, 9000 / MOST_PER_CALL + 1);
    close(fd);
}

static void the_call_that_has_tried_all_tuples_fails(void **state)
{
    struct outcome failed;
    uint64_t tuple;
    int n_calls;

    (void)state;
    assert_int_equal(search(&n_calls, &tuple, &failed), -1);
    assert_int_equal(errno, EADDRINUSE);
    assert_int_equal(failed.reason, REASON_PORTS);
    assert_int_equal(tuple, CLIENT_TUPLE_NONE);
}

/* --- planned tuples where the kernel finds no port --- */

enum { N_FALLBACK = 10 };

static struct client_class classes[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
static _Atomic uint64_t fallback_tuples[CLIENT_CLASS_MOST];

static int setup_fallback(void **state)
{
    static const uint16_t ports[] = {53, 853, 53};
    char error[SRCPLAN_ERROR_BYTES];

    (void)state;
    config = (struct client_config){.quiet = true,
                                    .spare_tuple = &spare,
                                    .fallback_tuples = fallback_tuples,
                                    .classes = classes,
                                    .n_classes = 3};
    for (size_t i = 0; i < 3; i++) {
        fallback_tuples[i] = 0;
        classes[i].target =
            (struct sock_address){.ss.ss_family = AF_INET, .length = sizeof(struct sockaddr_in)};
        sock_set_port(&classes[i].target, ports[i]);
    }
    srcplan_init(&config.plan);
    srcplan_init(&config.fallback);
    kernel_has_no_port = true;
    listener = bound_fd = -1;
    client_tuples_init(&tuples, &config, 0, N_CONNS, true);
    return srcplan_add_ports(&config.fallback, "20000-20009", error);
}

static int teardown_fallback(void **state)
{
    (void)state;
    kernel_has_no_port = false;
    client_tuples_free(&tuples);
    srcplan_free(&config.fallback);
    return 0;
}

/* Returns whether a connection of this class gets a tuple. */
static bool connects(size_t class, uint64_t *tuple)
{
    struct outcome failed;
    const int fd = client_tuples_connect(&tuples, &classes[class].target, tuple, &failed);

    if (fd >= 0)
        close(fd);
    else
        assert_int_equal(failed.reason, REASON_PORTS);
    return fd >= 0;
}

static void each_destination_has_all_tuples_of_the_fallback(void **state)
{
    uint64_t tuple;

    (void)state;
    for (int i = 0; i < N_FALLBACK; i++) {
        assert_true(connects(0, &tuple));
        assert_int_equal(tuple, i);
    }
    assert_false(connects(0, &tuple));
    for (int i = 0; i < N_FALLBACK; i++)
        assert_true(connects(1, &tuple));
    assert_false(connects(1, &tuple));
}

static void classes_with_the_same_port_share_the_tuples(void **state)
{
    uint64_t tuple;

    (void)state;
    for (int i = 0; i < N_FALLBACK; i++)
        assert_true(connects(i % 2 == 0 ? 0 : 2, &tuple));
    assert_false(connects(2, &tuple));
    client_tuples_give_back(&tuples, &classes[0].target, 7);
    assert_true(connects(2, &tuple));
    assert_int_equal(tuple, 7);
}

static void a_tuple_that_is_given_back_is_free_towards_its_destination(void **state)
{
    uint64_t tuple;

    (void)state;
    for (int i = 0; i < N_FALLBACK; i++)
        assert_true(connects(0, &tuple) && connects(1, &tuple));
    client_tuples_give_back(&tuples, &classes[1].target, 3);
    assert_false(connects(0, &tuple));
    assert_true(connects(1, &tuple));
    assert_int_equal(tuple, 3);
}

#define OF_FALLBACK(name) cmocka_unit_test_setup_teardown(name, setup_fallback, teardown_fallback)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_call_tries_some_of_many_tuples, setup, teardown),
        cmocka_unit_test_setup_teardown(further_calls_try_the_others, setup, teardown),
        cmocka_unit_test_setup_teardown(the_call_that_has_tried_all_tuples_fails, setup, teardown),
        OF_FALLBACK(each_destination_has_all_tuples_of_the_fallback),
        OF_FALLBACK(classes_with_the_same_port_share_the_tuples),
        OF_FALLBACK(a_tuple_that_is_given_back_is_free_towards_its_destination),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
