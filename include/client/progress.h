/* SPDX-License-Identifier: MIT
 * progress: the progress line of tcpclient.  On a terminal it is updated in place, otherwise each
 * is a new line.  Main thread only. */
#ifndef TCPSCALER_CLIENT_PROGRESS_H
#define TCPSCALER_CLIENT_PROGRESS_H

#include "host/netdev.h"
#include "measure/hist.h"
#include "measure/tally.h"

#include <stdbool.h>
#include <stdio.h>

struct progress {
    /* run */
    uint64_t n_requested;  /* connections */
    bool listens;          /* receives pushed messages, sends no queries */
    uint64_t timeout_ns;   /* of queries */
    const char *search;    /* what a search is doing; NULL: none */
    uint64_t start_ns;     /* start of connecting */
    const char *interface; /* NULL: unknown */
    /* current values */
    uint64_t begin_ns; /* of the schedule; 0: still connecting */
    uint64_t end_ns;   /* of the load; UINT64_MAX: unknown */
    uint64_t wait_ns;  /* until the start that was requested; 0: over, or not known yet */
    uint64_t now_ns, live;
    double n_due; /* queries due since begin_ns; 0: no rate is requested */
    /* Response times of the last complete second; borrowed, or NULL. */
    const struct hist *response;
    struct netdev_counters net;
    /* Previous line; updated here. */
    uint64_t previous_ns, previous_sent, previous_answered, previous_connected;
    uint64_t previous_messages;
    double previous_due;
    struct netdev_counters previous_net;
};

/* Prints what happened since the last call, without a newline.  Response times are those of one
 * second; "-" if it has too few for a percentile. */
void progress_print(FILE *out, struct progress *p, const struct tally *now);

/* On a terminal, replaces the current line by the text of progress_print(), truncated to n_columns.
 * text NULL: clears the line. */
void progress_show_in_place(FILE *terminal, const char *text, unsigned n_columns);

#endif
