/* SPDX-License-Identifier: MIT
 * client_alarm: see client/worker/alarm.h. */
#include "client/worker/alarm.h"

#include "base/clock.h"
#include "net/worker.h"

#include <sys/timerfd.h>
#include <unistd.h>

int client_alarm_init(struct client_alarm *a, struct event_base *base, event_callback_fn callback,
                      void *arg)
{
    const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

    if (fd < 0)
        return -1;
    event_assign(&a->event, base, fd, EV_READ | EV_PERSIST, callback, arg);
    event_priority_set(&a->event, WORKER_PRIORITY_TIMER);
    return event_add(&a->event, NULL);
}

void client_alarm_free(struct client_alarm *a)
{
    if (!event_initialized(&a->event))
        return;
    event_del(&a->event);
    close(event_get_fd(&a->event));
}

/* Setting the timer also clears an expiration that was not read. */
static void set(struct client_alarm *a, uint64_t at_ns)
{
    const struct itimerspec at = {.it_value = clock_timespec(at_ns)};

    timerfd_settime(event_get_fd(&a->event), TFD_TIMER_ABSTIME, &at, NULL);
}

void client_alarm_set(struct client_alarm *a, uint64_t at_ns)
{
    set(a, at_ns);
}

void client_alarm_clear(struct client_alarm *a)
{
    if (event_initialized(&a->event))
        set(a, 0);
}
