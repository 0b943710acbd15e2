/* SPDX-License-Identifier: MIT
 * client_span: start and end of a worker's load, and the last time read.  All times are
 * CLOCK_MONOTONIC.  Used by the worker's thread only. */
#ifndef TCPSCALER_CLIENT_WORKER_SPAN_H
#define TCPSCALER_CLIENT_WORKER_SPAN_H

#include <stdbool.h>
#include <stdint.h>

struct client_span {
    /* Start of the warm-up, start and end of the measurement; 0: unknown. */
    uint64_t start_ns, measure_ns, end_ns;
    uint64_t now_ns; /* last time read; decides what is due */
    bool answered;   /* now_ns is from the callback of a socket that had answers, still running */
    bool running;    /* arrivals are being taken */
};

#endif
