/* SPDX-License-Identifier: MIT
 * test_accept: what one worker accepts while accepting fails, for itself or for others. */
#include "server/accept.h"

#include "base/log.h"
#include "host/memory_watch.h"
#include "net/sock.h"
#include "print_steps.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

/* More events than any step below takes. */
enum { MOST_TURNS = 20, MOST_WAKEUPS = 1000, GRANT = 1000 };

static struct server_config config;
static struct server_conns conns;
static struct server_accept acceptor;
static struct memory_watch memory;
static struct sock_address address;
static int client_fd;
static struct rlimit nofile;
static bool watching_fails; /* of the next connection */

/* Called by libevent. */
int epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event)
{
    if (watching_fails && operation == EPOLL_CTL_ADD && fd != config.overflow.set_fd) {
        watching_fails = false;
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, epoll_fd, operation, fd, event);
}

/* Its address goes to *address. */
static int open_listener(void)
{
    const struct sock_listen_options options = {.backlog = 8};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd;

    address = (struct sock_address){.length = sizeof in};
    memcpy(&address.ss, &in, sizeof in);
    fd = sock_listen(&address, &options);
    return fd >= 0 && sock_local_address(fd, &address) == 0 ? fd : -1;
}

static int setup(void **state)
{
    struct server_accept_params params = {.worker_index = 0};

    (void)state;
    memory = (struct memory_watch){.meminfo_fd = -1, .grant = GRANT};
    config = (struct server_config){.own_fd_tables = true, .quiet = true, .memory = &memory};
    conns = (struct server_conns){.config = &config, .base = event_base_new()};
    client_fd = socket(AF_INET, SOCK_STREAM, 0);
    params.listener_fd = open_listener();
    if (conns.base == NULL || poller_init(&conns.poller, conns.base) != 0 || client_fd < 0 ||
        params.listener_fd < 0 || getrlimit(RLIMIT_NOFILE, &nofile) != 0 ||
        server_overflow_open(&config.overflow, true, false) != 0)
        return -1;
    return server_accept_start(&acceptor, &conns, &params);
}

static int teardown(void **state)
{
    (void)state;
    setrlimit(RLIMIT_NOFILE, &nofile);
    server_accept_stop(&acceptor);
    server_conns_free(&conns);
    source_limit_free(config.source_limit);
    server_overflow_close(&config.overflow);
    event_base_free(conns.base);
    close(client_fd);
    return 0;
}

/* Uses up all descriptors. */
static void fill_table(void)
{
    const int fd = dup(client_fd);
    const struct rlimit full = {.rlim_cur = (rlim_t)fd, .rlim_max = nofile.rlim_max};

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);
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

static void a_connection_that_cannot_be_opened_gives_back_the_share_of_its_source(void **state)
{
    (void)state;
    config.source_limit = source_limit_new(1, 10, 0);
    assert_non_null(config.source_limit);
    watching_fails = true;
    client_connects();
    run_until(&conns.tally.refused[SERVER_REFUSED_MEMORY], 1);
    close(client_fd);
    client_fd = socket(AF_INET, SOCK_STREAM, 0);
    client_connects();
    event_base_loop(conns.base, EVLOOP_ONCE);
    assert_int_equal(tally_get(&conns.tally.accepted), 1);
}

static void helpers_take_turns(void **state)
{
    struct server_conns other_conns = {.config = &config, .base = event_base_new()};
    const struct server_accept_params nowhere = {.worker_index = 1, .listener_fd = -1};
    const tally_count *refused = &other_conns.tally.refused[SERVER_REFUSED_CONNECTIONS];
    const int full_fd = open_listener(); /* of a worker with a full table */
    static struct server_accept other;

    (void)state;
    config.max_connections = 1; /* both refuse every connection */
    atomic_store(&config.n_active, 1);
    assert_int_equal(poller_init(&other_conns.poller, other_conns.base), 0);
    assert_int_equal(server_accept_start(&other, &other_conns, &nowhere), 0);
    server_overflow_offer(&config.overflow, full_fd);
    for (int i = 0; i < MOST_WAKEUPS && tally_get(refused) == 0; i++) {
        close(client_fd);
        client_fd = socket(AF_INET, SOCK_STREAM, 0);
        client_connects();
        event_base_loop(conns.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
        event_base_loop(other_conns.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    }
    assert_true(tally_get(&conns.tally.refused[SERVER_REFUSED_CONNECTIONS]) > 0);
    assert_true(tally_get(refused) > 0);
    server_overflow_withdraw(&config.overflow, full_fd);
    server_accept_stop(&other);
    server_conns_free(&other_conns);
    event_base_free(other_conns.base);
    close(full_fd);
}

static void a_full_worker_refuses_nobody_while_it_is_suspended(void **state)
{
    const tally_count *refused = &conns.tally.refused[SERVER_REFUSED_FDS];
    const int refused_fd = client_fd, second_fd = socket(AF_INET, SOCK_STREAM, 0);

    (void)state;
    fill_table();
    client_connects();
    run_until(refused, 1);
    server_accept_suspend(&acceptor, true);
    client_fd = second_fd;
    client_connects();
    event_base_loop(conns.base, EVLOOP_ONCE); /* the timer: it looks for room */
    assert_int_equal(tally_get(refused), 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &nofile), 0);
    server_accept_suspend(&acceptor, false);
    run_until(&conns.tally.accepted, 1);
    close(refused_fd);
}

static void refuses_again(void)
{
    event_active(&acceptor.timer_event, EV_TIMEOUT, 0);
    event_base_loop(conns.base, EVLOOP_NONBLOCK);
}

static unsigned n_lines(const char *text)
{
    unsigned n = 0;

    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

static void a_shortage_is_logged_once_and_so_is_a_later_one(void **state)
{
    char *lines;

    (void)state;
    config.quiet = false;
    log_set_stream(print_open());
    fill_table();
    client_connects();
    run_until(&conns.tally.refused[SERVER_REFUSED_FDS], 1);
    refuses_again();
    fflush(log_stream());
    assert_int_equal(n_lines(memory_stream.text), 1);
    acceptor.refused_ns -= SERVER_ACCEPT_CALM_NS;
    refuses_again();
    refuses_again();
    log_set_stream(NULL);
    lines = print_close();
    assert_int_equal(n_lines(lines), 2);
    assert_has(lines, "thread 0: cannot accept: Too many open files; refusing new connections");
    free(lines);
}

static void a_full_table_is_one_pause_until_there_is_room(void **state)
{
    const int first_fd = client_fd, second_fd = socket(AF_INET, SOCK_STREAM, 0),
              third_fd = socket(AF_INET, SOCK_STREAM, 0);

    (void)state;
    fill_table();
    client_connects();
    run_until(&conns.tally.refused[SERVER_REFUSED_FDS], 1);
    for (int i = 0; i < MOST_TURNS; i++)
        refuses_again();
    assert_int_equal(tally_get(&conns.tally.accept_pauses), 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &nofile), 0);
    client_fd = second_fd;
    client_connects();
    refuses_again(); /* there is room */
    run_until(&conns.tally.accepted, 1);
    assert_int_equal(tally_get(&conns.tally.accept_pauses), 1);
    fill_table();
    client_fd = third_fd;
    client_connects();
    run_until(&conns.tally.refused[SERVER_REFUSED_FDS], 2);
    assert_int_equal(tally_get(&conns.tally.accept_pauses), 2);
    close(first_fd);
    close(second_fd);
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
        cmocka_unit_test_setup_teardown(
            a_connection_that_cannot_be_opened_gives_back_the_share_of_its_source, setup, teardown),
        cmocka_unit_test_setup_teardown(helpers_take_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_worker_refuses_nobody_while_it_is_suspended, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_shortage_is_logged_once_and_so_is_a_later_one, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_full_table_is_one_pause_until_there_is_room, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
