/* SPDX-License-Identifier: MIT
 * shutdown: see base/shutdown.h. */
#include "base/shutdown.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static atomic_bool asked; /* lock-free: a handler may touch it */
static int wake_fd = -1;

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

int shutdown_prepare(void)
{
    if (wake_fd < 0)
        wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wake_fd < 0)
        return -1;
    handle(SIGINT, on_signal);
    handle(SIGTERM, on_signal);
    handle(SIGHUP, SIG_IGN);
    handle(SIGUSR1, SIG_IGN);
    return 0;
}

int shutdown_fd(void)
{
    return wake_fd;
}

void shutdown_request(int number)
{
    const uint64_t one = 1;

    if (atomic_exchange(&asked, true)) {
        if (number != SIGHUP)
            _exit(128 + number);
    } else if (write(wake_fd, &one, sizeof one) < 0) {
        return; /* no event loop: the flag is enough */
    }
}

bool shutdown_was_requested(void)
{
    return atomic_load(&asked);
}

const atomic_bool *shutdown_flag(void)
{
    return &asked;
}
