/* SPDX-License-Identifier: MIT
 * start_gate: delays the load of tcpclient until a time of CLOCK_REALTIME, given by an option or,
 * later, by a file, so that several hosts start together.  The gate opens at that time minus the
 * settle time.  If the time is missed by more than is allowed, the load is never started.  Main
 * thread. */
#ifndef TCPSCALER_CLIENT_START_GATE_H
#define TCPSCALER_CLIENT_START_GATE_H

#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

struct client_result;
struct client_start;

struct start_gate_settings {
    uint64_t at_epoch_ns; /* 0: read from the file */
    const char *file;     /* NULL: none */
    uint64_t late_max_ns;
    uint64_t ahead_ns; /* opens this long before the time */
    bool quiet;        /* no messages but errors */
};

struct start_gate {
    const struct start_gate_settings *settings;
    struct client_start *start; /* filled in, except late_ns */
    struct event event;
    bool waiting;
    bool is_unreadable; /* the file; it has been said */
    /* Called when the load starts, with the start of its schedule (CLOCK_MONOTONIC), or when it is
     * given up. */
    void (*opened)(void *arg, uint64_t begin_ns);
    void (*missed)(void *arg);
    void *arg;
};

/* Notes what is known of the start before the gate is reached: the run may end before that. */
void start_gate_init(struct client_start *start);

/* Returns whether the time is known and already missed, before anything is opened. */
bool start_gate_is_missed(const struct start_gate_settings *settings);

/* Returns whether CLOCK_MONOTONIC, by which the load is sent, has no such time: it begins at the
 * boot.  The gate never opens then. */
bool start_gate_is_before_boot(uint64_t at_epoch_ns);

/* Removes FILE.ready of an earlier run and checks that it can be written.  Returns 0; or -1 after
 * one line on stderr: also if FILE, FILE.ready or FILE.ready.new, its temporary file, is an output
 * (base/outputs.h), or one of the latter two is an input.  Call it once all of them are open. */
int start_gate_prepare(const struct start_gate_settings *settings);

/* Creates FILE.ready and waits.  Call it once all connections have been opened or have failed.  May
 * call `opened` or `missed` before it returns. */
void start_gate_wait(struct start_gate *gate, struct event_base *base,
                     const struct client_result *connections);

/* Stops waiting, if it waits. */
void start_gate_close(struct start_gate *gate);

#endif
