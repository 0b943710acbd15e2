/* SPDX-License-Identifier: MIT
 * test_accept: what one worker accepts while accepting fails, for itself or for others. */
#include "server/accept.h"

#include "host/memory_watch.h"
#include "net/sock.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* More events than any step below takes. */
enum { MOST_TURNS = 20, GRANT = 1000 };

static struct server_config config;
static struct server_conns conns;
static struct server_accept acceptor;
static struct memory_watch memory;
static struct sock_address address;
static int client_fd;

static int setup(void **state)
{
    const struct sock_listen_options options = {.backlog = 8};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct server_accept_place place = {.worker_index = 0};

    (void)state;
    address = (struct sock_address){.length = sizeof in};
    memcpy(&address.ss, &in, sizeof in);
    memory = (struct memory_watch){.meminfo_fd = -1, .grant = GRANT};
    config = (struct server_config){.own_fd_tables = true, .quiet = true, .memory = &memory};
    conns = (struct server_conns){.config = &config, .base = event_base_new()};
    client_fd = socket(AF_INET, SOCK_STREAM, 0);
    place.listener_fd = sock_listen(&address, &options);
    if (conns.base == NULL || client_fd < 0 || place.listener_fd < 0 ||
        sock_local_address(place.listener_fd, &address) != 0 ||
        server_overflow_open(&config.overflow, true, false) != 0)
        return -1;
    return server_accept_start(&acceptor, &conns, &place);
}

static int teardown(void **state)
{
    (void)state;
    server_accept_stop(&acceptor);
    server_conns_free(&conns);
    server_overflow_close(&config.overflow);
    event_base_free(conns.base);
    close(client_fd);
    return 0;
}

static void client_connects(void)
{
    assert_int_equal(
        connect(client_fd, (const struct sockaddr *)(const void *)&address.ss, address.length), 0);
}

static void run_until(const tally_count *count, uint64_t n)
{
    for (int i = 0; i < MOST_TURNS && tally_get(count) < n; i++)
        event_base_loop(conns.base, EVLOOP_ONCE);
    assert_int_equal(tally_get(count), n);
}

/* Accepting from a pipe, as the listener of another worker, always fails. */
static void a_broken_listener_pauses_no_other(void **state)
{
    int broken[2];

    (void)state;
    assert_int_equal(pipe(broken), 0);
    assert_int_equal(write(broken[1], "x", 1), 1);
    server_overflow_offer(&config.overflow, broken[0]);
    run_until(&conns.tally.accept_pauses, 1);
    assert_true(event_pending(&acceptor.listener_event, EV_READ, NULL));
    assert_false(event_pending(&acceptor.overflow_event, EV_READ, NULL));
    client_connects();
    run_until(&conns.tally.accepted, 1);
    run_until(&conns.tally.accept_pauses, 2); /* it helps again, later */
    server_overflow_withdraw(&config.overflow, broken[0]);
    close(broken[0]);
    close(broken[1]);
}

static void a_refused_connection_gives_its_memory_back(void **state)
{
    (void)state;
    config.max_connections = 1;
    atomic_store(&config.n_active, 1);
    client_connects();
    run_until(&conns.tally.refused[SERVER_REFUSED_CONNECTIONS], 1);
    assert_int_equal(atomic_load(&memory.grant), GRANT);
}

static void a_connection_takes_its_memory(void **state)
{
    (void)state;
    client_connects();
    run_until(&conns.tally.accepted, 1);
    assert_int_equal(atomic_load(&memory.grant), GRANT - 1);
}

static void without_memory_connections_wait_until_they_may_be_refused(void **state)
{
    const tally_count *refused = &conns.tally.refused[SERVER_REFUSED_MEMORY];

    (void)state;
    atomic_store(&memory.grant, 0);
    atomic_store(&memory.is_short, true);
    client_connects();
    for (int i = 0; i < MOST_TURNS && tally_get(refused) == 0; i++)
        event_base_loop(conns.base, EVLOOP_ONCE);
    assert_int_equal(tally_get(refused), 0);
    atomic_store(&memory.refusals, 1);
    run_until(refused, 1);
    assert_int_equal(tally_get(&conns.tally.accepted), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_broken_listener_pauses_no_other, setup, teardown),
        cmocka_unit_test_setup_teardown(a_refused_connection_gives_its_memory_back, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_connection_takes_its_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_connections_wait_until_they_may_be_refused,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
