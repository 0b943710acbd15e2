/* SPDX-License-Identifier: MIT
 * report_text_arrivals: the part of the summary about connections that arrive on schedule
 * (--connect-arrival).  No libevent. */
#ifndef TCPSCALER_CLIENT_REPORT_TEXT_ARRIVALS_H
#define TCPSCALER_CLIENT_REPORT_TEXT_ARRIVALS_H

#include "client/report.h"
#include "client/result.h"

#include <stdio.h>

/* "Poisson", "constant". */
const char *report_text_arrivals_name(enum pacer_arrival arrival);

/* Prints nothing without --connect-arrival. */
void report_text_arrivals(FILE *out, const struct report_about *about,
                          const struct client_result *r);

#endif
