/* SPDX-License-Identifier: MIT
 * report: prints the result of a tcpclient run, as text for people and as JSON for programs.
 * Judges nothing.  No libevent. */
#ifndef TCPSCALER_CLIENT_REPORT_H
#define TCPSCALER_CLIENT_REPORT_H

#include "client/result.h"
#include "client/worker/config.h"
#include "config/options.h"

#include <stdio.h>

/* The program and its settings. */
struct report_about {
    const char *version;       /* program version */
    const char *libevent;      /* its version */
    const char *backend;       /* and event backend */
    const char *target;        /* "127.0.0.1:4242" */
    char *const *command;      /* argv; NULL: unknown */
    bool has_queries;          /* requested, if only at a mean rate of 0, as in a pause */
    double rate_qps;           /* requested */
    uint64_t churn_most_per_s; /* see struct client_plan */
    const struct client_config *config;
    const struct options *options; /* option table ... */
    const void *settings;          /* ... and its settings */
};

/* Prints the summary. */
void report_text(FILE *out, const struct report_about *about, const struct client_result *result);

/* Prints one JSON object of schema version 1 (docs/result.md).  Unknown figures are null. */
void report_json(FILE *out, const struct report_about *about, const struct client_result *result);

#endif
