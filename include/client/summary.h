/* SPDX-License-Identifier: MIT
 * client_summary: the report for people, on stderr.  It is written first, as far as its reader
 * accepts it at once; the rest waits until the files are written.  Main thread. */
#ifndef TCPSCALER_CLIENT_SUMMARY_H
#define TCPSCALER_CLIENT_SUMMARY_H

#include "client/report.h"

#include <stddef.h>

struct client_summary {
    char *text;
    size_t n_bytes, n_shown;
};

void client_summary_begin(struct client_summary *s, const struct report_about *about,
                          const struct client_result *result);

/* Shows the rest, and waits for its reader until shutdown is requested. */
void client_summary_end(struct client_summary *s);

#endif
