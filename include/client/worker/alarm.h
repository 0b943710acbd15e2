/* SPDX-License-Identifier: MIT
 * client_alarm: a timer of the event loop that fires within tens of microseconds of its time, of
 * the highest priority.  libevent's timers are some milliseconds late.  Used by the worker's thread
 * only. */
#ifndef TCPSCALER_CLIENT_WORKER_ALARM_H
#define TCPSCALER_CLIENT_WORKER_ALARM_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdint.h>

struct client_alarm {
    struct event event;
};

/* Returns 0, or -1 with errno. */
int client_alarm_init(struct client_alarm *a, struct event_base *base, event_callback_fn callback,
                      void *arg);

/* Also if all zero. */
void client_alarm_free(struct client_alarm *a);

/* Fires once at at_ns (CLOCK_MONOTONIC, not 0); replaces an earlier setting. */
void client_alarm_set(struct client_alarm *a, uint64_t at_ns);

/* Disarms it.  The callback must call this first.  No effect if all zero. */
void client_alarm_clear(struct client_alarm *a);

#endif
