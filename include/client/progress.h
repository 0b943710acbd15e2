/* SPDX-License-Identifier: MIT
 * progress: the progress line of tcpclient: on a terminal one line that is updated in place,
 * otherwise a line at a time.  Main thread only. */
#ifndef TCPSCALER_CLIENT_PROGRESS_H
#define TCPSCALER_CLIENT_PROGRESS_H

#include "host/netdev.h"
#include "measure/hist.h"
#include "measure/tally.h"

#include <stdbool.h>
#include <stdio.h>

struct progress {
    /* of the run */
    uint64_t asked;        /* connections */
    bool listens;          /* to messages; no queries */
    double rate_qps;       /* asked since previous_ns, on average; 0: none */
    uint64_t load_ns;      /* warm-up and measurement; UINT64_MAX: until interrupted */
    uint64_t start_ns;     /* when it began to connect */
    const char *interface; /* NULL: not known */
    /* now */
    uint64_t begin_ns; /* of the schedule; 0: still connecting */
    uint64_t now_ns, live, in_flight;
    const struct hist *response; /* times of the last second that is complete; borrowed; or NULL */
    struct netdev_counters net;
    /* of the last line; kept here */
    uint64_t previous_ns, previous_sent, previous_answered, previous_connected;
    uint64_t previous_messages;
    struct netdev_counters previous_net;
};

/* Prints what happened since the last call, without newline.  Response times are those of one
 * second, so "-" is printed if that has too few for a percentile. */
void progress_print(FILE *out, struct progress *p, const struct tally *now);

/* On a terminal: replaces the current line by the text of progress_print(), cut to n_columns.  NULL
 * clears the line. */
void progress_show_in_place(FILE *terminal, const char *text, unsigned n_columns);

#endif
