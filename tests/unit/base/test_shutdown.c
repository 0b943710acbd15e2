/* SPDX-License-Identifier: MIT
 * test_shutdown: signals without an event loop, each case in its own process. */
#include "base/shutdown.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { AS_EXPECTED = 3, NOT_SO = 4 };

/* --- the clock of these tests --- */

static long now_ms = 1000;
static void (*after_reading)(void); /* once */

int clock_gettime(clockid_t id, struct timespec *now)
{
    void (*const act)(void) = after_reading;

    (void)id;
    *now = (struct timespec){.tv_sec = now_ms / 1000, .tv_nsec = now_ms % 1000 * 1000000};
    after_reading = NULL;
    if (act != NULL)
        act();
    return 0;
}

/* --- processes --- */

/* Returns the wait status of a process that calls prepare() and act(). */
static int status_after(int (*prepare)(void), void (*act)(void))
{
    const pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        if (prepare() == 0 && shutdown_catch() == 0)
            act();
        _exit(NOT_SO);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static int nothing(void)
{
    return 0;
}

static int status_of(void (*act)(void))
{
    return status_after(nothing, act);
}

static void end_when(bool condition)
{
    _exit(condition ? AS_EXPECTED : NOT_SO);
}

static bool is_readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, 0) == 1;
}

static void files_and_snapshots_are_asked_for(void)
{
    raise(SIGHUP);
    raise(SIGUSR1);
    shutdown_deliver();
    raise(SIGHUP);
    raise(SIGUSR1);
    end_when(!shutdown_was_requested() && !atomic_load(shutdown_flag()) &&
             !is_readable(shutdown_fd()));
}

static volatile sig_atomic_t n_delivered[NSIG];

static void on_delivery(int number)
{
    n_delivered[number]++;
}

static void expect_delivered(int n)
{
    if (n_delivered[SIGHUP] != n || n_delivered[SIGUSR1] != n)
        _exit(NOT_SO);
}

static void files_and_snapshots_are_asked_for_too_early(void)
{
    raise(SIGHUP);
    raise(SIGUSR1);
    signal(SIGHUP, on_delivery);
    signal(SIGUSR1, on_delivery);
    expect_delivered(0);
    shutdown_deliver();
    expect_delivered(1);
    shutdown_hold();
    raise(SIGHUP);
    raise(SIGUSR1);
    expect_delivered(1);
    shutdown_deliver();
    expect_delivered(2);
    end_when(!shutdown_was_requested());
}

static int terminal; /* its other end */

static int use_terminal(void)
{
    int fd = -1;

    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0)
        fd = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    return fd >= 0 && dup2(fd, STDERR_FILENO) >= 0 && close(fd) == 0 ? 0 : -1;
}

/* Files are to be reopened, then the terminal closes. */
static void left_by_the_terminal(void)
{
    raise(SIGHUP);
    if (shutdown_was_requested())
        end_when(false);
    close(terminal);
    errno = ENXIO;
    end_when(shutdown_was_requested() && errno == ENXIO && is_readable(shutdown_fd()));
}

/* As a program that was started with nohup(1). */
static void left_by_the_terminal_without_a_signal(void)
{
    close(terminal);
    end_when(!shutdown_was_requested());
}

static void asked_once(void)
{
    raise(SIGINT);
    end_when(shutdown_was_requested() && atomic_load(shutdown_flag()) &&
             is_readable(shutdown_fd()));
}

/* As a program may that starts others. */
static int block_all(void)
{
    sigset_t all;

    sigfillset(&all);
    return sigprocmask(SIG_BLOCK, &all, NULL);
}

static void asked_by_the_loop(void)
{
    shutdown_request(SIGTERM);
    end_when(shutdown_was_requested() && is_readable(shutdown_fd()));
}

/* Longer than two signals are the same request. */
static void wait_for_another(void)
{
    now_ms += 250;
}

static void asked_twice(void)
{
    raise(SIGINT);
    wait_for_another();
    raise(SIGTERM);
}

static void asked_twice_at_once(void)
{
    raise(SIGTERM);
    raise(SIGTERM);
    end_when(shutdown_was_requested() && is_readable(shutdown_fd()));
}

static void ask_a_moment_later(void)
{
    now_ms++;
    raise(SIGTERM);
}

static void asked_while_asking(void)
{
    after_reading = ask_a_moment_later;
    raise(SIGINT);
    end_when(shutdown_was_requested() && is_readable(shutdown_fd()));
}

static void asked_by_the_loop_and_again(void)
{
    shutdown_request(SIGTERM);
    wait_for_another();
    raise(SIGINT);
}

static void asked_twice_by_the_loop(void)
{
    shutdown_request(SIGINT);
    wait_for_another();
    shutdown_request(SIGINT);
}

static void hung_up_twice(void)
{
    shutdown_request(SIGHUP);
    shutdown_request(SIGHUP);
    end_when(shutdown_was_requested() && is_readable(shutdown_fd()));
}

static void asked_and_hung_up(void)
{
    raise(SIGTERM);
    shutdown_request(SIGHUP);
    end_when(shutdown_was_requested());
}

static void hung_up_and_asked(void)
{
    shutdown_request(SIGHUP);
    wait_for_another();
    raise(SIGTERM);
}

static void asked_without_a_signal_and_with_one(void)
{
    shutdown_request(0);
    wait_for_another();
    raise(SIGTERM);
    shutdown_request(0);
    end_when(shutdown_was_requested() && is_readable(shutdown_fd()));
}

static void asked_without_a_signal_and_with_two(void)
{
    shutdown_request(0);
    raise(SIGINT);
    wait_for_another();
    raise(SIGTERM);
}

static void signals_that_do_not_ask_to_end_do_nothing(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(status_of(files_and_snapshots_are_asked_for)), AS_EXPECTED);
}

static void files_and_snapshots_wait_for_the_event_loop(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(status_of(files_and_snapshots_are_asked_for_too_early)),
                     AS_EXPECTED);
}

static void a_hangup_ends_a_wait_before_the_event_loop(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(status_after(use_terminal, left_by_the_terminal)), AS_EXPECTED);
    assert_int_equal(WEXITSTATUS(status_after(use_terminal, left_by_the_terminal_without_a_signal)),
                     AS_EXPECTED);
}

static void the_first_to_ask_lets_the_report_be_written(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(status_of(asked_once)), AS_EXPECTED);
    assert_int_equal(WEXITSTATUS(status_of(asked_by_the_loop)), AS_EXPECTED);
}

static void blocked_signals_are_unblocked(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(status_after(block_all, asked_once)), AS_EXPECTED);
    assert_int_equal(WEXITSTATUS(status_after(block_all, asked_twice_at_once)), AS_EXPECTED);
}

static void the_second_ends_it(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(status_of(asked_twice)), 128 + SIGTERM);
    assert_int_equal(WEXITSTATUS(status_of(asked_by_the_loop_and_again)), 128 + SIGINT);
    assert_int_equal(WEXITSTATUS(status_of(asked_twice_by_the_loop)), 128 + SIGINT);
}

/* timeout(1) sends its signal to its child and to the process group of both. */
static void two_at_once_are_one_request(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(status_of(asked_twice_at_once)), AS_EXPECTED);
    assert_int_equal(WEXITSTATUS(status_of(asked_while_asking)), AS_EXPECTED);
}

/* When a terminal closes, both the kernel and the shell may send SIGHUP. */
static void a_hangup_is_never_the_second(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(status_of(hung_up_twice)), AS_EXPECTED);
    assert_int_equal(WEXITSTATUS(status_of(asked_and_hung_up)), AS_EXPECTED);
    assert_int_equal(WEXITSTATUS(status_of(hung_up_and_asked)), 128 + SIGTERM);
}

static void a_request_that_is_no_signal_is_never_the_first_of_two(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(status_of(asked_without_a_signal_and_with_one)), AS_EXPECTED);
    assert_int_equal(WEXITSTATUS(status_of(asked_without_a_signal_and_with_two)), 128 + SIGTERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_that_do_not_ask_to_end_do_nothing),
        cmocka_unit_test(files_and_snapshots_wait_for_the_event_loop),
        cmocka_unit_test(a_hangup_ends_a_wait_before_the_event_loop),
        cmocka_unit_test(the_first_to_ask_lets_the_report_be_written),
        cmocka_unit_test(blocked_signals_are_unblocked),
        cmocka_unit_test(the_second_ends_it),
        cmocka_unit_test(two_at_once_are_one_request),
        cmocka_unit_test(a_hangup_is_never_the_second),
        cmocka_unit_test(a_request_that_is_no_signal_is_never_the_first_of_two),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
