/* SPDX-License-Identifier: MIT
 * output: the files, pipes and streams that a program writes its results to.  Main thread.
 *
 * A document is written as a whole; one that is a regular file replaces the old one when it is
 * complete (base/replacement.h), and leaves it as it was if it fails.  A log is written line by
 * line during the run.
 *
 * Text written to `stream` waits for a slow reader until shutdown is requested (base/writing.h);
 * text not written by then is dropped.  output_put() never waits. */
#ifndef TCPSCALER_BASE_OUTPUT_H
#define TCPSCALER_BASE_OUTPUT_H

#include "base/output_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Opens `name`; NULL: opens nothing.  An existing file keeps its content until output_begin(), or
 * until the new document is complete.  Waits until a FIFO has a reader.  Returns 0; or -1 after one
 * line on stderr if it cannot be opened, stdout was closed when the program started, or it
 * conflicts with another output or an input (base/outputs.h). */
int output_open_document(struct output *o, const char *option, const char *name);
int output_open_log(struct output *o, const char *option, const char *name);

/* Starts over: removes what has been written of a document, and empties a log that is a regular
 * file other than stdout.  Call it once all outputs are open and before the first write.  No-op if
 * not open.  Returns 0, or -1 after one line on stderr. */
int output_begin(const struct output *o);

/* Whether output_reopen() continues it in a new file: a log that is a regular file other than
 * stdout. */
bool output_is_rotated(const struct output *o);

/* Writing to output_fd() has failed with this errno. */
void output_fail(struct output *o, int error);

/* Says on stderr that writing has failed with `error`, and that `what`, such as "rows", are lost:
 * to the end, or if it `reopens`, until output_reopen().  No-op if `error` is 0, or if it has said
 * so since output_reopen(). */
void output_say_lost(struct output *o, int error, const char *what, bool reopens);

/* Continues a regular file other than stdout in a new file of the same name, beginning with `head`
 * (base/reopen.h); no-op if not open.  On failure prints a line on stderr and keeps the old file.
 * After a failed write it also prints a line, removes the part of a line at the end of the old
 * file, and resumes writing. */
void output_reopen(struct output *o, const char *head);

/* Returns the descriptor to write to, for another program; -1 with errno on failure. */
int output_fd(struct output *o);

/* Writes text, which it frees, after all that was put before.  What the reader does not take now is
 * kept, within limits (base/backlog.h); the lines that are dropped are counted. */
void output_put(struct output *o, char *text, size_t n_bytes);

/* Puts a whole document, without waiting for a reader.  In a regular file it replaces the last one;
 * elsewhere, and in a file that cannot be emptied, it is appended.  Frees the text.  Returns 0, or
 * -1 after a line on stderr. */
int output_put_document(struct output *o, char *text, size_t n_bytes);

/* Continues to write what is kept, without waiting.  Returns whether nothing is left. */
bool output_put_rest(struct output *o);

/* Writes all that is kept and the stream.  A document is complete then.  Returns 0, or -1 after a
 * line on stderr. */
int output_flush(struct output *o);

/* Flushes and closes it; no-op if not open.  An incomplete document is removed or, if written in
 * place, emptied.  Returns 0, or -1 after a line on stderr if anything was lost. */
int output_close(struct output *o);

/* Closes a document, as if it were incomplete. */
void output_abandon(struct output *o);

/* Closes an output to which nothing has been written, as if it had not been opened: removes the
 * file if opening created it.  No-op if not open. */
void output_withdraw(struct output *o);

/* Flushes stdout.  Returns 0 if all of it was written, or -1 after a line on stderr. */
int output_flush_stdout(void);

#endif
