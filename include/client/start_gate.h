/* SPDX-License-Identifier: MIT
 * start_gate: holds the load of tcpclient back until a moment of CLOCK_REALTIME, which an option
 * or, later, a file gives: so that hosts begin at the same instant.  At that moment less the time
 * to settle the gate opens; what was missed by more than is allowed is never begun.  Main thread.
 */
#ifndef TCPSCALER_CLIENT_START_GATE_H
#define TCPSCALER_CLIENT_START_GATE_H

#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

struct client_result;
struct client_start;

struct start_gate_settings {
    uint64_t at_epoch_ns; /* 0: the file says it */
    const char *file;     /* NULL: none */
    uint64_t late_max_ns;
    uint64_t ahead_ns; /* opens so long before the moment */
    bool quiet;        /* not a word but errors */
};

struct start_gate {
    const struct start_gate_settings *settings;
    struct client_start *start; /* filled, but for late_ns */
    struct event event;
    bool waiting;
    /* The load is to begin, its schedule at begin_ns of CLOCK_MONOTONIC; or never. */
    void (*opened)(void *arg, uint64_t begin_ns);
    void (*missed)(void *arg);
    void *arg;
};

/* Whether the moment is known and was missed already: before anything is opened. */
bool start_gate_is_missed(const struct start_gate_settings *settings);

/* Removes what an earlier run left at FILE.ready, and tries whether it can be written.  Returns 0,
 * or -1 with errno. */
int start_gate_prepare(const struct start_gate_settings *settings);

/* All connections have come about, or failed: says so in FILE.ready, and waits. */
void start_gate_wait(struct start_gate *gate, struct event_base *base,
                     const struct client_result *connections);

/* Waits no longer, if it does. */
void start_gate_close(struct start_gate *gate);

#endif
