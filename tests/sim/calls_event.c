/* SPDX-License-Identifier: MIT
 * calls_event: epoll(7), eventfd(2), timerfd_create(2), pipe2(2), and the clocks. */
#include "call.h"
#include "descriptor.h"
#include "fiber.h"
#include "ledger.h"
#include "readiness.h"
#include "refusal.h"
#include "tcp.h"
#include "violation.h"
#include "world.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ull

/* The kernel's coarse clock, with a tick of 4 ms. */
#define TICK_NS (4 * MS)

static uint64_t rounded(uint64_t ns, uint64_t step_ns)
{
    return ns - ns % step_ns;
}

static int create(const char *what, enum descriptor_kind kind)
{
    return call_new_descriptor(what, world.scenario.start_permille, kind);
}

/* --- epoll --- */

int epoll_create1(int flags)
{
    if (!world.active)
        return (int)syscall(SYS_epoll_create1, flags);
    call_begin();
    return create("epoll_create", DESCRIPTOR_EPOLL);
}

/* libevent's second try. */
int epoll_create(int n)
{
    (void)n;
    return world.active ? (int)call_return("epoll_create", -1, -errno) : epoll_create1(0);
}

int epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event)
{
    static const int errnos[] = {ENOMEM, ENOSPC};
    int error = 0;

    if (!descriptor_is_simulated(epoll_fd))
        return (int)syscall(SYS_epoll_ctl, epoll_fd, operation, fd, event);
    call_begin();
    if (operation != EPOLL_CTL_DEL)
        error = CALL_FAULT(world.scenario.watch_permille, errnos);
    fiber_n_refusals[fiber_current()] += error != 0;
    if (error != 0 && call_tcp(fd) >= 0) {
        tcp_at((uint32_t)call_tcp(fd))->was_unwatched = true;
        refusal_add(epoll_fd, (uint32_t)call_tcp(fd), error);
    }
    if (error == 0)
        error = readiness_watch(epoll_fd, operation, fd, event);
    LAW(error != EBADF, "epoll_ctl(%d): not open", fd);
    return (int)call_return("epoll_ctl", fd, -error);
}

/* Sleeps until a descriptor is ready or the time is over. */
static void sleep_on(int epoll_fd, int64_t timeout_ns)
{
    uint64_t until_ns = WORLD_NEVER;

    if (timeout_ns > 0)
        until_ns =
            world.now_ns + (uint64_t)timeout_ns + world_up_to(world.scenario.wakeup_us * 1000);
    descriptor_of(epoll_fd)->sleeper = fiber_current();
    fiber_sleep(until_ns);
    descriptor_of(epoll_fd)->sleeper = -1;
}

/* Now and then the thread gets no CPU for a while: it does not know what arrives then, and its
 * timers become due. */
static void halt(void)
{
    if (world_chance(world.scenario.halt_permille))
        fiber_sleep(world.now_ns + world_up_to(world.scenario.halt_us * 1000));
}

/* timeout_ns < 0: none. */
static int wait_for(int epoll_fd, struct epoll_event *events, int most, int64_t timeout_ns)
{
    int n;

    call_begin();
    ledger_on_wait();
    refusal_check(epoll_fd);
    if (timeout_ns == 0)
        fiber_yield();
    n = readiness_take(epoll_fd, events, most);
    if (n == 0 && timeout_ns != 0) {
        sleep_on(epoll_fd, timeout_ns);
        n = readiness_take(epoll_fd, events, most);
    }
    halt();
    return (int)call_return("epoll_wait", epoll_fd, n);
}

int epoll_wait(int epoll_fd, struct epoll_event *events, int most, int timeout_ms)
{
    if (!descriptor_is_simulated(epoll_fd)) /* arm64 has no epoll_wait */
        return (int)syscall(SYS_epoll_pwait, epoll_fd, events, most, timeout_ms, NULL, 0);
    return wait_for(epoll_fd, events, most, timeout_ms < 0 ? -1 : timeout_ms * (int64_t)MS);
}

/* Used by libevent 2.2 if the C library has it; no caller passes a mask. */
int epoll_pwait2(int epoll_fd, struct epoll_event *events, int most, const struct timespec *timeout,
                 const sigset_t *mask)
{
    if (!descriptor_is_simulated(epoll_fd))
        return (int)syscall(SYS_epoll_pwait2, epoll_fd, events, most, timeout, mask, _NSIG / 8);
    LAW(mask == NULL, "not simulated: epoll_pwait2() with a mask");
    return wait_for(epoll_fd, events, most,
                    timeout == NULL ? -1 : timeout->tv_sec * 1000000000ll + timeout->tv_nsec);
}

/* --- other descriptors --- */

int eventfd(unsigned count, int flags)
{
    int fd;

    if (!world.active)
        return (int)syscall(SYS_eventfd2, count, flags);
    call_begin();
    LAW((flags & ~EFD_SEMAPHORE) == (EFD_NONBLOCK | EFD_CLOEXEC), "not simulated: eventfd(%x)",
        flags);
    fd = create("eventfd", flags & EFD_SEMAPHORE ? DESCRIPTOR_SEMAPHORE : DESCRIPTOR_EVENT);
    if (fd >= 0)
        descriptor_of(fd)->count = count;
    return fd;
}

int pipe2(int fds[2], int flags)
{
    if (!world.active)
        return (int)syscall(SYS_pipe2, fds, flags);
    call_begin();
    fds[0] = descriptor_new(DESCRIPTOR_PIPE);
    fds[1] = descriptor_new(DESCRIPTOR_PIPE);
    return (int)call_return("pipe", fds[0], 0);
}

int timerfd_create(int clock, int flags)
{
    if (!world.active)
        return (int)syscall(SYS_timerfd_create, clock, flags);
    call_begin();
    LAW(clock == CLOCK_MONOTONIC && flags == (TFD_NONBLOCK | TFD_CLOEXEC),
        "not simulated: timerfd_create(%d, %x)", clock, flags);
    return create("timerfd", DESCRIPTOR_TIMER);
}

/* name: fd and serial of the descriptor; set_ns: what it was set to. */
static void on_expiry(uint64_t name, uint64_t set_ns)
{
    const int fd = (int)(uint32_t)name;
    struct descriptor *d = descriptor_of(fd);

    if (d == NULL || d->serial != name >> 32 || d->count != set_ns)
        return;
    d->count = 0;
    d->expired = true;
    readiness_changed(fd);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *before)
{
    struct descriptor *d;

    if (!descriptor_is_simulated(fd))
        return (int)syscall(SYS_timerfd_settime, fd, flags, at, before);
    call_begin();
    d = descriptor_of(fd);
    LAW(d != NULL && d->kind == DESCRIPTOR_TIMER, "timerfd_settime(%d)", fd);
    d->expired = false;
    d->count = (uint64_t)at->it_value.tv_sec * 1000000000 + (uint64_t)at->it_value.tv_nsec;
    LAW(d->count == 0 || flags == TFD_TIMER_ABSTIME, "not simulated: a relative timer");
    if (d->count != 0) /* not before the clock says so */
        world_at(rounded(d->count + world.scenario.clock_step_ns - 1, world.scenario.clock_step_ns),
                 on_expiry, (uint64_t)d->serial << 32 | (uint32_t)fd, d->count);
    return (int)call_return("timerfd_set", fd, 0);
}

/* --- clocks --- */

int clock_gettime(clockid_t clock, struct timespec *time)
{
    uint64_t ns;

    if (!world.active)
        return (int)syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_MONOTONIC_COARSE) {
        ns = rounded(world.now_ns, TICK_NS);
    } else {
        world_pass(world.scenario.call_ns / 4 + 1);
        ns = rounded(world.now_ns, world.scenario.clock_step_ns);
        if (clock == CLOCK_REALTIME)
            ns += WORLD_EPOCH_NS;
        else
            ledger_on_clock(ns);
    }
    *time = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    if (!world.active)
        return (int)syscall(SYS_gettimeofday, time, zone);
    *time = (struct timeval){(time_t)((WORLD_EPOCH_NS + world.now_ns) / 1000000000),
                             (suseconds_t)(world.now_ns % 1000000000 / 1000)};
    return 0;
}

/* Used by OpenSSL for sessions and certificates. */
time_t time(time_t *at)
{
    struct timeval now;

    gettimeofday(&now, NULL);
    if (at != NULL)
        *at = now.tv_sec;
    return now.tv_sec;
}
