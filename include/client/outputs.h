/* SPDX-License-Identifier: MIT
 * client_outputs: the files and streams that a run of tcpclient writes.  Main thread. */
#ifndef TCPSCALER_CLIENT_OUTPUTS_H
#define TCPSCALER_CLIENT_OUTPUTS_H

#include "base/output.h"
#include "client/opts.h"

struct client_outputs {
    struct output json, rows, hlog, hgrm, connections; /* closed: not asked for */
    char *hlog_head;                                   /* header of the log; the caller's to free */
};

#define CLIENT_OUTPUTS_CLOSED                                                                      \
    {                                                                                              \
        .json = OUTPUT_CLOSED, .rows = OUTPUT_CLOSED, .hlog = OUTPUT_CLOSED,                       \
        .hgrm = OUTPUT_CLOSED, .connections = OUTPUT_CLOSED                                        \
    }

/* Opens all that the options name; none loses what it has before all of them could be opened.
 * Returns 0, or -1 after one line on stderr. */
int client_outputs_open(struct client_outputs *out, const struct client_opts *o);

/* The JSON alone, for --plan.  As above, but it keeps what it has. */
int client_outputs_open_json(struct client_outputs *out, const struct client_opts *o);

/* Writes the head of the log, when the run begins.  Returns 0, or -1 after one line on stderr. */
int client_outputs_begin_hlog(struct client_outputs *out);

/* What is written through the run goes on in new files of the same names; the files that are
 * written at the end stay. */
void client_outputs_reopen(struct client_outputs *out, const struct client_opts *o);

/* Returns 0, or not 0 when one of them is not complete. */
int client_outputs_close(struct client_outputs *out);

#endif
