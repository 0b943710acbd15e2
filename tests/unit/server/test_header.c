/* SPDX-License-Identifier: MIT
 * test_header: a PROXY header has its time from when the connection was accepted, even if its bytes
 * arrive one by one. */
#include "server/header.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { TIMEOUT_S = 3600 };

static const struct srcplan_tuple nobody = {.address.family = AF_UNSPEC};
static const struct timeval header_timeout = {.tv_sec = TIMEOUT_S};
static struct server_config config;
static struct server_conns conns;
static uint8_t buffer[SERVER_BUFFER_BYTES];
static int ends[2]; /* the connection's, its peer's */
static time_t passed_s;

/* Libevent's clock is CLOCK_MONOTONIC_COARSE, and goes on by itself. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    const int failed = (int)syscall(SYS_clock_gettime, clock, time);

    time->tv_sec += clock == CLOCK_MONOTONIC ? passed_s : 0;
    return failed;
}

static void on_ended(void *context)
{
    (void)context;
}

static int setup(void **state)
{
    (void)state;
    passed_s = 0;
    config = (struct server_config){.header_timeout_ns = TIMEOUT_S * UNITS_NS_PER_S, .n_active = 1};
    conns = (struct server_conns){.config = &config,
                                  .base = event_base_new(),
                                  .header_timeout = &header_timeout,
                                  .buffer = buffer,
                                  .ended = on_ended};
    if (conns.base == NULL || poller_init(&conns.poller, conns.base) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
        return -1;
    return server_header_open(&conns, ends[0], &nobody);
}

static int teardown(void **state)
{
    (void)state;
    server_conns_free(&conns);
    event_base_free(conns.base);
    close(ends[1]);
    return 0;
}

static void take_a_byte(void)
{
    assert_int_equal(write(ends[1], "P", 1), 1);
    event_base_loop(conns.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

/* How long the connection may still take, in seconds. */
static long left_s(void)
{
    struct timeval now, end;

    assert_true(evtimer_pending(conns.blocks[0][0].socket.timer, &end));
    event_base_gettimeofday_cached(conns.base, &now);
    return (long)(end.tv_sec - now.tv_sec);
}

static void further_bytes_do_not_move_the_deadline(void **state)
{
    (void)state;
    passed_s = TIMEOUT_S / 2;
    take_a_byte();
    assert_in_range(left_s(), 0, TIMEOUT_S / 2 + 1);
    assert_int_equal(tally_get(&conns.tally.n_refused), 0);
}

static void a_byte_after_the_deadline_is_late(void **state)
{
    (void)state;
    passed_s = TIMEOUT_S;
    take_a_byte();
    assert_int_equal(tally_get(&conns.tally.refused[SERVER_REFUSED_HEADER_LATE]), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(further_bytes_do_not_move_the_deadline, setup, teardown),
        cmocka_unit_test_setup_teardown(a_byte_after_the_deadline_is_late, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
