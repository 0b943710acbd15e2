/* SPDX-License-Identifier: MIT
 * client_span: when a worker's load begins and ends, and its latest look at the clock.  All times
 * are CLOCK_MONOTONIC.  Used by its worker's thread. */
#ifndef TCPSCALER_CLIENT_WORKER_SPAN_H
#define TCPSCALER_CLIENT_WORKER_SPAN_H

#include <stdbool.h>
#include <stdint.h>

struct client_span {
    uint64_t start_ns, measure_ns, end_ns; /* begin of warm-up, of measurement, end of it; 0: not
                                              yet known */
    uint64_t now_ns;                       /* the latest stamp taken: what is due is judged by it */
    bool running;                          /* arrivals are taken */
};

#endif
