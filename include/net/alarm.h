/* SPDX-License-Identifier: MIT
 * alarm: a timer of the event loop that fires within tens of microseconds of its time.  libevent's
 * timers are some milliseconds late (net/worker.c).  Used by the thread of the loop only. */
#ifndef TCPSCALER_NET_ALARM_H
#define TCPSCALER_NET_ALARM_H

#include "base/clock.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/timerfd.h>

struct alarm {
    struct event event;
    int fd;
    bool is_open;
};

/* priority: WORKER_PRIORITY_... (net/worker.h).  Returns 0, or -1 with errno. */
int alarm_init(struct alarm *a, struct event_base *base, int priority, event_callback_fn callback,
               void *arg);

/* Also if all zero. */
void alarm_free(struct alarm *a);

/* Fires once at at_ns (CLOCK_MONOTONIC, not 0); replaces an earlier setting.  Setting also clears
 * an expiration that was not read, which saves a read(2).  Called in every iteration of a worker's
 * loop. */
static inline void alarm_set(const struct alarm *a, uint64_t at_ns)
{
    const struct itimerspec at = {.it_value = clock_timespec(at_ns)};

    timerfd_settime(a->fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/* Disarms it.  A callback that does not set it again must call this: the alarm stays readable.  No
 * effect if all zero. */
static inline void alarm_clear(const struct alarm *a)
{
    static const struct itimerspec never;

    if (a->is_open)
        timerfd_settime(a->fd, TFD_TIMER_ABSTIME, &never, NULL);
}

#endif
