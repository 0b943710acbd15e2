/* SPDX-License-Identifier: MIT
 * output: the files, pipes and streams that a program writes its results to.  A reader that does
 * not read is waited for until shutdown is requested (base/shutdown.h); after that, all outputs
 * together wait OUTPUT_PATIENCE_NS without progress and then drop the rest.  Main thread, except
 * for writes to stderr. */
#ifndef TCPSCALER_BASE_OUTPUT_H
#define TCPSCALER_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#define OUTPUT_PATIENCE_NS 300000000ull

struct output {
    const char *option; /* its long name, for messages; borrowed */
    const char *name;   /* name of the file, "-": stdout; borrowed */
    FILE *stream;       /* NULL: not open */
    int fd;             /* under the stream; -1: not open */
    int error;          /* errno of the first failed write, 0: none */
};

#define OUTPUT_CLOSED                                                                              \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* Opens `name`, which keeps its content until output_begin().  Returns 0; or -1 after one line on
 * stderr if it cannot be opened, stdout was closed when the program started, or another output is
 * the same file (a terminal included; /dev/null and the like may be shared). */
int output_open(struct output *o, const char *option, const char *name);

/* Whether two names refer to the same existing file. */
bool output_is(const char *name, const char *other);

/* Whether it is stdout, under any name. */
bool output_is_stdout(const struct output *o);

/* Empties an output that is a regular file other than stdout.  Call it once all outputs are open
 * and before the first write, or to start the file over.  Returns 0, or -1 with errno. */
int output_begin(struct output *o);

/* Flushes the stream.  Returns 0, or -1 after a line on stderr. */
int output_flush(struct output *o);

/* Flushes and closes it; no-op if not open.  If `is_document`, a regular file that is incomplete is
 * emptied, since a part could be mistaken for the whole. */
int output_close(struct output *o, bool is_document);

/* Flushes stdout.  Returns 0 if all of it was written, or -1 after a line on stderr. */
int output_flush_stdout(void);

/* Replaces stdio's stderr by such a stream.  Call it before other threads exist. */
void output_take_stderr(void);

/* true: from now on drop what does not fit into stderr at once, so that nobody waits for its
 * reader; false: wait as above.  Any thread. */
void output_drop_stderr(bool drop);

#endif
