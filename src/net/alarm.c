/* SPDX-License-Identifier: MIT
 * alarm: see net/alarm.h. */
#include "net/alarm.h"

#include <unistd.h>

int alarm_init(struct alarm *a, struct event_base *base, int priority, event_callback_fn callback,
               void *arg)
{
    a->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (a->fd < 0)
        return -1;
    a->is_open = true;
    event_assign(&a->event, base, a->fd, EV_READ | EV_PERSIST, callback, arg);
    event_priority_set(&a->event, priority);
    return event_add(&a->event, NULL);
}

void alarm_free(struct alarm *a)
{
    if (!a->is_open)
        return;
    event_del(&a->event);
    close(a->fd);
    a->is_open = false;
}
