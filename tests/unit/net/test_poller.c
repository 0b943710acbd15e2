/* SPDX-License-Identifier: MIT
 * test_poller: which sockets are called back, and which are not any more.
 * Linked with --wrap=malloc. */
#include "net/poller.h"

#include "net/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 3 };

struct socket {
    struct polled polled;
    int peer_fd;
    int n_calls, n_timeouts;
    short what; /* of the last call */
    /* what its callback does */
    struct socket *stops, *becomes;
    bool breaks, sets_timeout;
};

static struct event_base *base;
static struct poller poller;
static struct socket sockets[N];
static int watch_error;
static bool no_memory, wait_fails;

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);

void *__wrap_malloc(size_t n)
{
    return no_memory ? NULL : __real_malloc(n);
}

/* Called by the poller and by libevent. */
int epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event)
{
    if (watch_error == 0 || operation == EPOLL_CTL_DEL)
        return (int)syscall(SYS_epoll_ctl, epoll_fd, operation, fd, event);
    errno = watch_error;
    return -1;
}

/* Called by the poller and by libevent. */
int epoll_wait(int epoll_fd, struct epoll_event *events, int n, int timeout_ms)
{
    if (!wait_fails || epoll_fd != poller.epoll_fd)
        return (int)syscall(SYS_epoll_pwait, epoll_fd, events, n, timeout_ms, NULL, 0);
    errno = EPERM;
    return -1;
}

static const struct timeval soon = {.tv_usec = 1};

static void on_ready(struct polled *polled, short what);

static int watch(struct socket *s, short what)
{
    return poller_watch(&poller, &s->polled, s->polled.fd, what, on_ready, NULL);
}

static void on_ready(struct polled *polled, short what)
{
    struct socket *s = (struct socket *)polled;

    s->n_calls++;
    s->n_timeouts += what == EV_TIMEOUT;
    s->what = what;
    if (s->stops != NULL)
        poller_stop(&poller, &s->stops->polled);
    if (s->becomes != NULL)
        assert_int_equal(watch(s->becomes, EV_READ), 0);
    if (s->breaks)
        event_base_loopbreak(base);
    if (s->sets_timeout)
        assert_int_equal(poller_set_own_timeout(&poller, polled, &soon), 0);
}

static int setup(void **state)
{
    (void)state;
    watch_error = 0;
    no_memory = false;
    base = event_base_new();
    if (base == NULL || poller_init(&poller, base) != 0)
        return -1;
    for (int i = 0; i < N; i++) {
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
            return -1;
        sockets[i] = (struct socket){.polled.fd = ends[0], .peer_fd = ends[1]};
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++) {
        poller_stop(&poller, &sockets[i].polled);
        close(sockets[i].polled.fd);
        close(sockets[i].peer_fd);
    }
    poller_free(&poller);
    event_base_free(base);
    return 0;
}

static void run_a_turn(void)
{
    event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

static void send_a_byte_to(const struct socket *s)
{
    assert_int_equal(write(s->peer_fd, "x", 1), 1);
}

/* Watches all; each has a byte to read. */
static void make_all_ready(void)
{
    for (int i = 0; i < N; i++) {
        assert_int_equal(watch(&sockets[i], EV_READ), 0);
        send_a_byte_to(&sockets[i]);
    }
}

static int n_calls(void)
{
    return sockets[0].n_calls + sockets[1].n_calls + sockets[2].n_calls;
}

static void a_socket_is_called_back_as_long_as_it_is_ready(void **state)
{
    struct socket *s = &sockets[0];
    char byte;

    (void)state;
    assert_int_equal(watch(s, EV_READ), 0);
    run_a_turn();
    assert_int_equal(s->n_calls, 0);
    send_a_byte_to(s);
    run_a_turn();
    run_a_turn();
    assert_int_equal(s->n_calls, 2);
    assert_int_equal(s->what, EV_READ);
    assert_int_equal(read(s->polled.fd, &byte, 1), 1);
    run_a_turn();
    assert_int_equal(s->n_calls, 2);
}

static void an_edge_is_told_once_and_again_on_request(void **state)
{
    struct socket *s = &sockets[0];

    (void)state;
    assert_int_equal(watch(s, EV_READ | EV_WRITE | EV_ET), 0);
    send_a_byte_to(s);
    run_a_turn();
    run_a_turn();
    assert_int_equal(s->n_calls, 1);
    assert_int_equal(s->what, EV_READ | EV_WRITE);
    assert_int_equal(poller_change(&poller, &s->polled, EV_READ | EV_WRITE | EV_ET), 0);
    run_a_turn();
    assert_int_equal(s->n_calls, 2);
    assert_int_equal(watch(s, EV_READ | EV_WRITE | EV_ET), 0);
    run_a_turn();
    assert_int_equal(s->n_calls, 3);
}

static void a_change_counts_at_once(void **state)
{
    struct socket *s = &sockets[0];

    (void)state;
    assert_int_equal(watch(s, EV_WRITE), 0);
    run_a_turn();
    assert_int_equal(s->what, EV_WRITE);
    assert_int_equal(watch(s, EV_READ), 0);
    run_a_turn();
    assert_int_equal(s->n_calls, 1);
    assert_int_equal(poller_change(&poller, &s->polled, EV_READ | EV_WRITE), 0);
    run_a_turn();
    assert_int_equal(s->n_calls, 2);
}

static void a_closed_peer_makes_it_ready_for_all_it_waits_for(void **state)
{
    (void)state;
    assert_int_equal(watch(&sockets[0], EV_READ), 0);
    assert_int_equal(watch(&sockets[1], EV_WRITE | EV_ET), 0);
    run_a_turn();
    sockets[1].what = 0;
    for (int i = 0; i < 2; i++) {
        close(sockets[i].peer_fd);
        sockets[i].peer_fd = -1;
    }
    run_a_turn();
    assert_int_equal(sockets[0].what, EV_READ);
    assert_int_equal(sockets[1].what, EV_WRITE);
}

static void what_a_callback_stops_is_not_called_back(void **state)
{
    (void)state;
    make_all_ready();
    for (int i = 0; i < N; i++)
        sockets[i].stops = &sockets[(i + 1) % N];
    run_a_turn();
    /* in the order in which they became ready: the first stops the second, the third the first */
    assert_int_equal(sockets[0].n_calls, 1);
    assert_int_equal(sockets[1].n_calls, 0);
    assert_int_equal(sockets[2].n_calls, 1);
}

/* Its struct is another's by then. */
static void what_is_watched_anew_in_a_turn_waits_for_the_next(void **state)
{
    (void)state;
    make_all_ready();
    for (int i = 0; i < N; i++)
        sockets[i].stops = sockets[i].becomes = &sockets[(i + 1) % N];
    run_a_turn();
    assert_int_equal(n_calls(), 2);
    for (int i = 0; i < N; i++) {
        sockets[i].stops = sockets[i].becomes = NULL;
        sockets[i].n_calls = 0;
    }
    run_a_turn();
    assert_int_equal(n_calls(), N);
}

static void a_socket_may_stop_itself(void **state)
{
    (void)state;
    make_all_ready();
    for (int i = 0; i < N; i++)
        sockets[i].stops = &sockets[i];
    run_a_turn();
    run_a_turn();
    assert_int_equal(n_calls(), N);
}

static void what_was_ready_in_an_earlier_turn_is_stopped_alone(void **state)
{
    char byte;

    (void)state;
    make_all_ready();
    assert_int_equal(read(sockets[2].polled.fd, &byte, 1), 1);
    run_a_turn();
    for (int i = 0; i < 2; i++)
        assert_int_equal(read(sockets[i].polled.fd, &byte, 1), 1);
    send_a_byte_to(&sockets[0]);
    send_a_byte_to(&sockets[2]);
    sockets[0].stops = &sockets[1];
    run_a_turn(); /* the third takes the place that the second had */
    assert_int_equal(sockets[0].n_calls, 2);
    assert_int_equal(sockets[1].n_calls, 1);
    assert_int_equal(sockets[2].n_calls, 1);
}

static void a_break_of_the_loop_comes_before_the_next_socket(void **state)
{
    (void)state;
    make_all_ready();
    for (int i = 0; i < N; i++)
        sockets[i].breaks = true;
    run_a_turn();
    assert_int_equal(n_calls(), 1);
}

/* --- timeouts --- */

static void on_later(evutil_socket_t fd, short what, void *arg)
{
    bool *is_over = arg;

    (void)fd;
    (void)what;
    *is_over = true;
}

/* Until a timer that was set now is over: whatever was pending before and is as long is over, too.
 */
static void run_until_later(void)
{
    bool is_over = false;

    assert_int_equal(event_base_once(base, -1, EV_TIMEOUT, on_later, &is_over, &soon), 0);
    while (!is_over)
        event_base_loop(base, EVLOOP_ONCE);
}

static void a_timeout_comes_once(void **state)
{
    struct socket *s = &sockets[0];

    (void)state;
    assert_int_equal(poller_watch(&poller, &s->polled, s->polled.fd, EV_READ, on_ready,
                                  event_base_init_common_timeout(base, &soon)),
                     0);
    run_until_later();
    run_until_later();
    assert_int_equal(s->n_timeouts, 1);
    assert_int_equal(s->n_calls, 1);
    send_a_byte_to(s); /* it is still watched */
    run_a_turn();
    assert_int_equal(s->what, EV_READ);
}

static void a_timeout_needs_no_socket_and_may_be_set_again(void **state)
{
    struct socket *s = &sockets[0];

    (void)state;
    s->polled.callback = on_ready;
    s->sets_timeout = true;
    assert_int_equal(poller_set_own_timeout(&poller, &s->polled, &soon), 0);
    for (int i = 1; i <= 3; i++) {
        event_base_loop(base, EVLOOP_ONCE);
        assert_int_equal(s->n_calls, i);
    }
}

/* Each of them ends the timeout; without one, the loop would call back. */
static void a_timeout_that_is_over_is_not_called_back(void **state)
{
    struct socket *cleared = &sockets[0], *stopped = &sockets[1], *watched = &sockets[2];

    (void)state;
    for (int i = 0; i < N; i++) {
        assert_int_equal(watch(&sockets[i], EV_READ), 0);
        assert_int_equal(poller_set_own_timeout(&poller, &sockets[i].polled, &soon), 0);
    }
    assert_int_equal(poller_set_timeout(&poller, &cleared->polled, NULL), 0);
    poller_stop(&poller, &stopped->polled);
    assert_int_equal(watch(watched, EV_WRITE), 0);
    run_until_later();
    assert_int_equal(cleared->n_calls + stopped->n_calls + watched->n_timeouts, 0);
    assert_int_equal(watched->what, EV_WRITE);
}

/* --- failures --- */

static void why_a_socket_is_not_watched_is_returned(void **state)
{
    struct socket *s = &sockets[0];

    (void)state;
    watch_error = ENOSPC;
    assert_int_equal(watch(s, EV_READ), ENOSPC);
    watch_error = 0;
    no_memory = true;
    assert_int_equal(poller_watch(&poller, &s->polled, s->polled.fd, EV_READ, on_ready, &soon),
                     ENOMEM);
    no_memory = false;
    send_a_byte_to(s);
    run_a_turn();
    assert_int_equal(s->n_calls, 0);
    assert_int_equal(watch(s, EV_READ), 0);
    run_a_turn();
    assert_int_equal(s->n_calls, 1);
}

static void a_failed_start_leaves_nothing_behind(void **state)
{
    struct poller p = {0};

    (void)state;
    no_memory = true;
    assert_int_equal(poller_init(&p, base), -1);
    no_memory = false;
    watch_error = ENOSPC;
    assert_int_equal(poller_init(&p, base), -1);
    watch_error = 0;
    poller_free(&p);
    assert_int_equal(fcntl(p.epoll_fd, F_GETFD), -1);
}

static void a_poller_that_cannot_wait_for_events_aborts(void **state)
{
    pid_t pid;
    int status = 0;

    (void)state;
    make_all_ready();
    pid = fork();
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        wait_fails = true;
        run_a_turn();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_socket_is_called_back_as_long_as_it_is_ready, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_edge_is_told_once_and_again_on_request, setup, teardown),
        cmocka_unit_test_setup_teardown(a_change_counts_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_closed_peer_makes_it_ready_for_all_it_waits_for, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_a_callback_stops_is_not_called_back, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_watched_anew_in_a_turn_waits_for_the_next, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_socket_may_stop_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_ready_in_an_earlier_turn_is_stopped_alone, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_break_of_the_loop_comes_before_the_next_socket, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_timeout_comes_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_timeout_needs_no_socket_and_may_be_set_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_timeout_that_is_over_is_not_called_back, setup, teardown),
        cmocka_unit_test_setup_teardown(why_a_socket_is_not_watched_is_returned, setup, teardown),
        cmocka_unit_test_setup_teardown(a_failed_start_leaves_nothing_behind, setup, teardown),
        cmocka_unit_test_setup_teardown(a_poller_that_cannot_wait_for_events_aborts, setup,
                                        teardown),
    };

    worker_take_messages();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
