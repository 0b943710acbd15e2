/* SPDX-License-Identifier: MIT
 * shutdown: see base/shutdown.h. */
#include "base/shutdown.h"

#include "base/units.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* timeout(1) sends its signal twice, to its child and to the process group of both. */
#define SAME_REQUEST_NS (200 * UNITS_NS_PER_MS)

/* A handler changes them.  No bool: on RISC-V, gcc before 14 needs libatomic to exchange a byte. */
static atomic_int asked;
static atomic_ullong asked_ns; /* CLOCK_MONOTONIC; 0: not yet */
_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2, "signal-safety(7)");

static int wake_fd = -1;
static bool stderr_was_terminal;

static void on_signal(int number)
{
    const int error = errno;

    shutdown_request(number);
    errno = error;
}

static void handle(int number, void (*handler)(int))
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    sigaction(number, &action, NULL);
}

static void mask(int how, int number, int other)
{
    sigset_t both;

    sigemptyset(&both);
    sigaddset(&both, number);
    sigaddset(&both, other);
    pthread_sigmask(how, &both, NULL);
}

int shutdown_catch(void)
{
    if (wake_fd < 0)
        wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wake_fd < 0)
        return -1;
    stderr_was_terminal = isatty(STDERR_FILENO) == 1;
    shutdown_hold();
    handle(SIGINT, on_signal);
    handle(SIGTERM, on_signal);
    handle(SIGHUP, SIG_IGN);
    handle(SIGUSR1, SIG_IGN);
    mask(SIG_UNBLOCK, SIGINT, SIGTERM); /* execve(2) keeps what the parent has blocked */
    return 0;
}

void shutdown_deliver(void)
{
    mask(SIG_UNBLOCK, SIGHUP, SIGUSR1);
}

/* Linux keeps what is blocked even if it is ignored. */
void shutdown_hold(void)
{
    mask(SIG_BLOCK, SIGHUP, SIGUSR1);
}

int shutdown_fd(void)
{
    return wake_fd;
}

static unsigned long long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

void shutdown_request(int number)
{
    const uint64_t one = 1;
    const unsigned long long ns = now_ns();
    unsigned long long first_ns = 0;

    /* first_ns: the time of the first request, 0 if there was none.  It is later than this one if
     * its handler interrupted this one's */
    if (number != 0)
        atomic_compare_exchange_strong(&asked_ns, &first_ns, ns);
    if (atomic_exchange(&asked, 1) != 0) {
        if (number != SIGHUP && first_ns > 0 && ns > first_ns + SAME_REQUEST_NS)
            _exit(128 + number);
    } else if (write(wake_fd, &one, sizeof one) < 0) {
        return; /* no event loop: the flag is enough */
    }
}

bool shutdown_is_hangup(void)
{
    return stderr_was_terminal && isatty(STDERR_FILENO) != 1;
}

/* Code that waits without an event loop would otherwise not notice the request until the signal is
 * delivered. */
static void take_hangup(void)
{
    const int error = errno;
    sigset_t pending;

    if (sigpending(&pending) == 0 && sigismember(&pending, SIGHUP) == 1 && shutdown_is_hangup())
        shutdown_request(SIGHUP);
    errno = error;
}

bool shutdown_was_requested(void)
{
    if (stderr_was_terminal && atomic_load(&asked) == 0)
        take_hangup();
    return atomic_load(&asked) != 0;
}

const atomic_int *shutdown_flag(void)
{
    return &asked;
}
