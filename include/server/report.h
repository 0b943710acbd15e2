/* SPDX-License-Identifier: MIT
 * server_report: prints tcpserver's counters as text, JSON and statistics lines.  Judges nothing.
 * No libevent. */
#ifndef TCPSCALER_SERVER_REPORT_H
#define TCPSCALER_SERVER_REPORT_H

#include "config/options.h"
#include "host/counters.h"
#include "server/tally.h"

#include <stdio.h>

enum server_state { SERVER_RUNNING, SERVER_PAUSED, SERVER_ENDED, SERVER_N_STATES };

struct server_result {
    enum server_state state;
    struct server_tally total;
    const struct server_tally *const *workers; /* n_workers, borrowed */
    uint32_t n_workers;
    uint64_t started_epoch_ns;
    uint64_t elapsed_ns;
    bool pushes;
    /* Currently served; at the end, those that the shutdown closes: accepted - closed. */
    uint64_t active;
    /* Highest number open at a time, those that await their PROXY header included; exact. */
    uint64_t peak;
    struct host_counters before, now;
    const char *version, *libevent, *backend;
    const char *address; /* listening address */
    bool has_tls, has_headers;
    const struct options *options;
    const void *settings;
};

/* Print the summary, and one JSON object. */
void server_report_text(FILE *out, const struct server_result *r);
void server_report_json(FILE *out, const struct server_result *r);

/* Prints one line about the interval_ns since `previous`. */
void server_report_line(FILE *out, const struct server_result *r,
                        const struct server_tally *previous, uint64_t interval_ns);

#endif
