/* SPDX-License-Identifier: MIT
 * parting: see parting.h. */
#include "parting.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

/* Both are lock-free: the only atomics that a handler may touch. */
static atomic_bool asked, hurry;

static void on_ask(int number)
{
    parting_ask(number);
    atomic_store(&hurry, true);
}

static void handle(int number, void (*handler)(int))
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    sigaction(number, &action, NULL);
}

void parting_prepare(void)
{
    handle(SIGINT, on_ask);
    handle(SIGTERM, on_ask);
    handle(SIGHUP, SIG_IGN);
    handle(SIGUSR1, SIG_IGN);
}

void parting_ask(int number)
{
    if (atomic_exchange(&asked, true))
        _exit(128 + number);
}

bool parting_was_asked(void)
{
    return atomic_load(&asked);
}

const atomic_bool *parting_hurry(void)
{
    return &hurry;
}
