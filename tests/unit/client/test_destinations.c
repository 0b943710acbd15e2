/* SPDX-License-Identifier: MIT
 * test_destinations: the addresses that a run connects to, and whether one of them accepts. */
#include "client/destinations.h"

#include "loopback_steps.h"
#include "net/sock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* A port that nothing listens on, or that *listener listens on. */
static struct sock_address bound(int *listener, int backlog)
{
    struct sock_address a = loopback(0);

    *listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(*listener, (const struct sockaddr *)&a.ss, a.length), 0);
    if (backlog > 0)
        assert_int_equal(listen(*listener, backlog), 0);
    assert_int_equal(getsockname(*listener, (struct sockaddr *)&a.ss, &a.length), 0);
    return a;
}

static void classes_replace_the_address_of_the_run(void **state)
{
    const struct client_class classes[] = {
        {.target = loopback(2)}, {.target = loopback(3)}, {.target = loopback(2)}};
    struct client_config config = {.target = loopback(1)};
    const struct sock_address *servers[CLIENT_CLASS_MOST];

    (void)state;
    assert_int_equal(client_destinations(&config, servers), 1);
    assert_ptr_equal(servers[0], &config.target);
    config.classes = classes;
    config.n_classes = 3;
    assert_int_equal(client_destinations(&config, servers), 2);
    assert_ptr_equal(servers[0], &classes[0].target);
    assert_ptr_equal(servers[1], &classes[1].target);
}

static void connections_are_counted_by_the_port_they_go_to(void **state)
{
    const struct client_class classes[] = {
        {.target = loopback(2), .n_connections = 30},
        {.target = loopback(3), .n_connections = 50},
        {.target = loopback(2), .n_connections = 25},
    };
    struct client_config config = {.target = loopback(1), .n_connections = 105};

    (void)state;
    assert_int_equal(client_destinations_n_elsewhere(&config, &config.target), 0);
    config.classes = classes;
    config.n_classes = 3;
    assert_int_equal(client_destinations_n_elsewhere(&config, &classes[0].target), 50);
    assert_int_equal(client_destinations_n_elsewhere(&config, &classes[1].target), 55);
}

static void one_that_accepts_is_enough(void **state)
{
    int deaf, open;
    const struct sock_address closed = bound(&deaf, 0), listening = bound(&open, 8);
    const struct client_class classes[] = {{.target = closed}, {.target = listening}};
    struct client_config config = {.target = closed, .classes = classes, .n_classes = 2};
    uint64_t live[2] = {0, 0};

    (void)state;
    assert_true(client_destinations_accept(&config, live));
    live[1] = 1; /* only the others are tried */
    assert_int_equal(client_destinations_live(&config, live, &listening), 1);
    assert_int_equal(client_destinations_live(&config, live, &closed), 0);
    assert_false(client_destinations_accept(&config, live));
    live[1] = 0;
    config.n_classes = 1;
    assert_false(client_destinations_accept(&config, live));
    config.n_classes = 0;
    assert_false(client_destinations_accept(&config, live));
    config.target = listening;
    assert_true(client_destinations_accept(&config, live));
    close(deaf);
    close(open);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_replace_the_address_of_the_run),
        cmocka_unit_test(connections_are_counted_by_the_port_they_go_to),
        cmocka_unit_test(one_that_accepts_is_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
