/* SPDX-License-Identifier: MIT
 * client_outputs: the files and streams that a run of tcpclient writes.  Main thread. */
#ifndef TCPSCALER_CLIENT_OUTPUTS_H
#define TCPSCALER_CLIENT_OUTPUTS_H

#include "base/output.h"
#include "client/opts.h"

struct rows;

struct client_outputs {
    /* Closed if not requested. */
    struct output json, rows, hlog, hgrm, connections, trials, sweep, page;
    char *hlog_head;       /* header of the log, owned by the caller */
    const char *hlog_name; /* of a log for the page; NULL: that of --hlog; set by the caller */
};

#define CLIENT_OUTPUTS_CLOSED                                                                      \
    {                                                                                              \
        .json = OUTPUT_CLOSED, .rows = OUTPUT_CLOSED, .hlog = OUTPUT_CLOSED,                       \
        .hgrm = OUTPUT_CLOSED, .connections = OUTPUT_CLOSED, .trials = OUTPUT_CLOSED,              \
        .sweep = OUTPUT_CLOSED, .page = OUTPUT_CLOSED                                              \
    }

/* Opens the outputs of all options, and truncates none.  Returns 0, or -1 after one line on stderr.
 */
int client_outputs_open(struct client_outputs *out, const struct client_opts *o);

/* Truncates the files.  Call it when nothing can prevent the run any more.  Returns as above. */
int client_outputs_begin(struct client_outputs *out);

/* Opens only the JSON output, for --plan, and does not truncate it.  Returns like the above. */
int client_outputs_open_json(struct client_outputs *out, const struct client_opts *o);

/* Writes the header of the log when the run begins.  Returns 0, or -1 after one line on stderr. */
int client_outputs_begin_hlog(struct client_outputs *out);

/* Prints a line on stderr, once for each, about outputs that are written during the run and can no
 * longer be.  rows: the writer of the rows; NULL: none. */
void client_outputs_look(struct client_outputs *out, const struct rows *rows);

/* Continues outputs that are written during the run in new files of the same names, also those that
 * failed; but not the log for the page.  Files written at the end stay open.  rows: as above. */
void client_outputs_reopen(struct client_outputs *out, struct rows *rows);

/* Closes all but the page.  Returns 0, or nonzero if an output is incomplete. */
int client_outputs_close(struct client_outputs *out);

/* Closes those still open, of a run that was refused: files that did not exist do not exist again.
 */
void client_outputs_withdraw(struct client_outputs *out);

#endif
