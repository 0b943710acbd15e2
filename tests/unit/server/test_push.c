/* SPDX-License-Identifier: MIT
 * test_push: the rate follows the number of subscribers, even if the worker is always behind, the
 * time of day that of the host, and greetings are not dropped. */
#include "server/push.h"

#include "base/units.h"
#include "server/io.h"
#include "server/service.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* A quarter of it is more than a thread can push, too. */
#define RATE_PER_S 1000000000

enum { TURNS = 20 };

static struct server_config config;
static struct server_conns conns;
static const struct srcplan_tuple nobody = {.address.family = AF_UNSPEC};
static int peer_fd;
static time_t set_by_s, passed_s; /* CLOCK_REALTIME, CLOCK_MONOTONIC */

int clock_gettime(clockid_t clock, struct timespec *time)
{
    const int failed = (int)syscall(SYS_clock_gettime, clock, time);

    time->tv_sec += clock == CLOCK_REALTIME ? set_by_s : clock == CLOCK_MONOTONIC ? passed_s : 0;
    return failed;
}

/* Returns the server's end of a connection, or -1. */
static int open_pair(void)
{
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) != 0)
        return -1;
    peer_fd = fds[1];
    return fds[0];
}

/* It holds bytes for its peer, so that all messages to it are dropped. */
static int open_subscriber(void)
{
    struct server_conn *c = server_conn_new(&conns);
    const int fd = open_pair();

    if (c == NULL || fd < 0)
        return -1;
    c->held = calloc(1, sizeof *c->held);
    if (c->held == NULL || server_io_watch(c, fd) != 0)
        return -1;
    server_conn_begin(c);
    return conns.push_ops->subscribe(c);
}

static int setup_without_subscriber(enum server_select how)
{
    config = (struct server_config){
        .push_rate_per_s = RATE_PER_S, .push_bytes = PUSH_MIN_BYTES, .push_select = (int)how};
    conns = (struct server_conns){.config = &config, .base = event_base_new()};
    if (conns.base == NULL || poller_init(&conns.poller, conns.base) != 0)
        return -1;
    return server_push_init(&conns, 0);
}

static int setup(enum server_select how)
{
    return setup_without_subscriber(how) == 0 ? open_subscriber() : -1;
}

static int setup_random(void **state)
{
    (void)state;
    return setup(SERVER_SELECT_RANDOM);
}

static int setup_round_robin(void **state)
{
    (void)state;
    return setup(SERVER_SELECT_ROUND_ROBIN);
}

static int setup_empty_round_robin(void **state)
{
    (void)state;
    return setup_without_subscriber(SERVER_SELECT_ROUND_ROBIN);
}

static int setup_empty(void **state)
{
    (void)state;
    return setup_without_subscriber(SERVER_SELECT_RANDOM);
}

static int teardown(void **state)
{
    (void)state;
    server_conns_free(&conns);
    server_push_free(&conns);
    event_base_free(conns.base);
    close(peer_fd);
    return 0;
}

/* The last turn has as many messages as it may: more were due. */
static void run_turns(void)
{
    for (int i = 0; i < TURNS; i++)
        assert_int_equal(event_base_loop(conns.base, EVLOOP_ONCE), 0);
    assert_int_equal(conns.push->n_due, SERVER_PUSH_TURN);
}

static void a_worker_that_is_behind_follows_the_subscribers_of_others(void **state)
{
    (void)state;
    run_turns();
    assert_int_equal((uint64_t)conns.push->rate.rate_begin_qps, RATE_PER_S);
    atomic_store(&config.n_subscribers, 4);
    run_turns();
    assert_int_equal((uint64_t)conns.push->rate.rate_begin_qps, RATE_PER_S / 4);
}

/* Messages due after the last one taken are due at the new rate, without a gap. */
static void messages_that_are_due_follow_the_new_rate_too(void **state)
{
    const struct server_push *p = conns.push;
    uint64_t taken_ns;

    (void)state;
    run_turns();
    atomic_store(&config.n_subscribers, 4);
    assert_int_equal(event_base_loop(conns.base, EVLOOP_ONCE), 0);
    taken_ns = p->due[p->n_due - 1].intended_ns;
    assert_in_range(p->pacer.next_ns, taken_ns, taken_ns + 1000);
}

static void turn_at_once(void)
{
    alarm_set(&conns.push->alarm, 1);
    assert_int_equal(event_base_loop(conns.base, EVLOOP_ONCE), 0);
}

/* Half of the rate: what is left of the gap takes twice as long. */
static void the_rest_of_a_gap_follows_the_new_rate(void **state)
{
    const struct server_push *p = conns.push;
    uint64_t begin_ns;

    (void)state;
    config.push_rate_per_s = 0.001;
    assert_int_equal(open_subscriber(), 0);
    begin_ns = p->pacer.next_ns;
    assert_int_equal(event_base_loop(conns.base, EVLOOP_ONCE), 0);
    assert_int_equal(p->pacer.next_ns - begin_ns, 1000 * UNITS_NS_PER_S);
    atomic_store(&config.n_subscribers, 2);
    turn_at_once();
    assert_in_range(p->pacer.next_ns - begin_ns, 1500 * UNITS_NS_PER_S, 2000 * UNITS_NS_PER_S);
}

static void a_clock_that_is_set_is_read_again_after_a_second(void **state)
{
    const struct server_push *p = conns.push;
    uint64_t before_ns;

    (void)state;
    config.push_rate_per_s = 0.001;
    assert_int_equal(open_subscriber(), 0);
    assert_int_equal(event_base_loop(conns.base, EVLOOP_ONCE), 0);
    before_ns = p->realtime_offset_ns;
    set_by_s = 100;
    passed_s = 2;
    turn_at_once();
    assert_in_range(p->realtime_offset_ns - before_ns, 97 * UNITS_NS_PER_S, 99 * UNITS_NS_PER_S);
    set_by_s = passed_s = 0;
}

/* Where TCP has no memory, a new socket may accept nothing. */
static void a_greeting_waits_for_a_socket_that_has_no_room(void **state)
{
    const int fd = open_pair();
    struct push_stream stream = {.offset = 0};
    uint8_t bytes[4096] = {0};
    struct query_input in = {bytes, PUSH_MIN_BYTES};

    (void)state;
    assert_true(fd >= 0);
    while (send(fd, bytes, sizeof bytes, 0) > 0)
        ;
    assert_int_equal(server_service_open(&conns, fd, 0, &nobody), 0);
    while (recv(peer_fd, bytes, sizeof bytes, 0) > 0)
        ;
    assert_int_equal(event_base_loop(conns.base, EVLOOP_NONBLOCK), 0);
    assert_int_equal(recv(peer_fd, bytes, sizeof bytes, 0), PUSH_MIN_BYTES);
    assert_int_equal(push_next(&stream, &conns.push->pattern, &in), PUSH_MESSAGE);
    assert_int_equal(stream.message.sequence, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_worker_that_is_behind_follows_the_subscribers_of_others,
                                        setup_random, teardown),
        cmocka_unit_test_setup_teardown(a_worker_that_is_behind_follows_the_subscribers_of_others,
                                        setup_round_robin, teardown),
        cmocka_unit_test_setup_teardown(messages_that_are_due_follow_the_new_rate_too, setup_random,
                                        teardown),
        cmocka_unit_test_setup_teardown(messages_that_are_due_follow_the_new_rate_too,
                                        setup_round_robin, teardown),
        cmocka_unit_test_setup_teardown(the_rest_of_a_gap_follows_the_new_rate,
                                        setup_empty_round_robin, teardown),
        cmocka_unit_test_setup_teardown(a_clock_that_is_set_is_read_again_after_a_second,
                                        setup_empty_round_robin, teardown),
        cmocka_unit_test_setup_teardown(a_greeting_waits_for_a_socket_that_has_no_room, setup_empty,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
