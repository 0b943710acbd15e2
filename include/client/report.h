/* SPDX-License-Identifier: MIT
 * report: prints the result of a run of tcpclient as text for people and as JSON for programs.  It
 * prints what the result contains and judges nothing.  No libevent. */
#ifndef TCPSCALER_CLIENT_REPORT_H
#define TCPSCALER_CLIENT_REPORT_H

#include "client/result.h"
#include "client/worker/config.h"
#include "config/options.h"

#include <stdio.h>

/* Description of the program and its task for the reports. */
struct report_about {
    const char *version;       /* of the program */
    const char *libevent;      /* its version */
    const char *backend;       /* and backend */
    const char *target;        /* "127.0.0.1:4242" */
    double rate_qps;           /* asked; 0: none */
    uint64_t churn_most_per_s; /* struct client_plan */
    const struct client_config *config;
    const struct options *options; /* what the command line set ... */
    const void *settings;          /* ... in this */
};

/* The summary: one screen. */
void report_text(FILE *out, const struct report_about *about, const struct client_result *result);

/* One JSON object, schema version 1 (docs/result.md): unknown figures are null. */
void report_json(FILE *out, const struct report_about *about, const struct client_result *result);

#endif
