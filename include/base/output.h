/* SPDX-License-Identifier: MIT
 * output: the files, pipes and streams that a program writes its results to.
 *
 * A reader that takes nothing is waited for until the program is asked to end (base/shutdown.h);
 * from then on all outputs together wait OUTPUT_PATIENCE_NS more without progress, and what is left
 * is given up.  Main thread, but for writes to stderr. */
#ifndef TCPSCALER_BASE_OUTPUT_H
#define TCPSCALER_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#define OUTPUT_PATIENCE_NS 300000000ull

struct output {
    const char *option; /* its long name, for messages; borrowed */
    const char *name;   /* of the file, "-": stdout; borrowed */
    FILE *stream;       /* NULL: not open */
    int fd;             /* under the stream; -1: not open */
    int error;          /* errno of the first failed write, 0: none */
};

#define OUTPUT_CLOSED                                                                              \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* Opens `name`, which keeps its content until output_begin().  Returns 0, or -1 when it cannot be
 * opened, stdout was closed when the program started, or another output is the same file (a
 * terminal included; /dev/null and the like may be shared); why is printed on stderr. */
int output_open(struct output *o, const char *option, const char *name);

/* Whether two names are of one file that is there. */
bool output_is(const char *name, const char *other);

/* Whether it goes to stdout, under whatever name. */
bool output_is_stdout(const struct output *o);

/* Once all are open and before the first write: an output in a regular file, but not stdout, is
 * emptied.  Also begins such a file anew.  Returns 0 or -1 with errno. */
int output_begin(struct output *o);

/* Writes what the stream holds.  Returns 0, or -1 after a line on stderr. */
int output_flush(struct output *o);

/* Likewise, and closes it; nothing when it is not open.  A regular file that is not whole is
 * emptied where `is_document`: a part of it could be taken for all. */
int output_close(struct output *o, bool is_document);

/* stdout, written with stdio: 0 when all of it was written, or -1 after a line on stderr. */
int output_flush_stdout(void);

/* Puts such a stream in the place of stdio's stderr.  Before other threads are there. */
void output_take_stderr(void);

/* From now on what does not fit into stderr at once is dropped (true), as nobody should wait for
 * the reader of messages, or waited for as above (false).  Any thread. */
void output_drop_stderr(bool drop);

#endif
