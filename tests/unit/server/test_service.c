/* SPDX-License-Identifier: MIT
 * test_service: connections that epoll refuses to watch, or that read slowly. */
#include "server/service.h"

#include "net/worker.h"
#include "server/header.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static struct server_config config;
static struct server_conns conns;
static uint8_t buffer[SERVER_BUFFER_BYTES];
static const struct srcplan_tuple peer = {.address.family = AF_UNSPEC};
static const struct timeval header_timeout = {.tv_sec = 3600};
static int ends[2]; /* the connection's, its peer's */
static int watch_error;

/* Called by libevent. */
int epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event)
{
    if (watch_error == 0 || operation == EPOLL_CTL_DEL)
        return (int)syscall(SYS_epoll_ctl, epoll_fd, operation, fd, event);
    errno = watch_error;
    return -1;
}

static void on_ended(void *context)
{
    (void)context;
}

static int setup(void **state)
{
    (void)state;
    watch_error = 0;
    config = (struct server_config){.header_timeout_ns = 3600 * UNITS_NS_PER_S, .n_active = 1};
    conns = (struct server_conns){.config = &config,
                                  .base = event_base_new(),
                                  .header_timeout = &header_timeout,
                                  .buffer = buffer,
                                  .ended = on_ended};
    if (conns.base == NULL || poller_init(&conns.poller, conns.base) != 0)
        return -1;
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends);
}

static int teardown(void **state)
{
    (void)state;
    server_conns_free(&conns);
    event_base_free(conns.base);
    close(ends[1]);
    return 0;
}

static void opening_returns_why_it_cannot_be_watched(void **state)
{
    static const int errors[] = {ENOSPC, ENOMEM};

    (void)state;
    for (int i = 0; i < 2; i++) {
        watch_error = errors[i];
        assert_int_equal(server_service_open(&conns, ends[0], 0, &peer), errors[i]);
        assert_int_equal(server_header_open(&conns, ends[0], &peer), errors[i]);
    }
    close(ends[0]);
}

static const struct timeval idle_timeout = {.tv_usec = 1};

/* Too little for epoll to call the socket writable. */
static void a_peer_that_has_read_a_part_is_not_idle(void **state)
{
    static uint8_t bytes[SERVER_BUFFER_BYTES];
    uint64_t n_sent;

    (void)state;
    conns.idle_timeout = &idle_timeout;
    assert_int_equal(server_service_open(&conns, ends[0], 0, &peer), 0);
    while (tally_get(&conns.tally.back_pressure_pauses) == 0) {
        (void)send(ends[1], bytes, sizeof bytes, 0);
        event_base_loop(conns.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    }
    n_sent = tally_get(&conns.tally.bytes_sent);
    assert_true(recv(ends[1], bytes, sizeof bytes, 0) > 0);
    event_base_loop(conns.base, EVLOOP_ONCE);
    assert_int_equal(tally_get(&conns.tally.n_closed), 0);
    assert_true(tally_get(&conns.tally.bytes_sent) > n_sent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(opening_returns_why_it_cannot_be_watched, setup, teardown),
        cmocka_unit_test_setup_teardown(a_peer_that_has_read_a_part_is_not_idle, setup, teardown),
    };

    worker_take_messages();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
