/* SPDX-License-Identifier: MIT
 * output_state: an output, for the files that implement it; others use base/output.h. */
#ifndef TCPSCALER_BASE_OUTPUT_STATE_H
#define TCPSCALER_BASE_OUTPUT_STATE_H

#include "base/backlog.h"
#include "base/replacement.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct output {
    const char *option; /* its long name, for messages; borrowed */
    const char *name;   /* name of the file, "-": stdout; borrowed */
    FILE *stream;       /* NULL: not open */
    int fd;             /* under the stream; -1: not open, or a file to be replaced */
    int error;          /* errno of the first failed write, 0: none */
    bool is_incomplete; /* lines were lost before output_reopen(), which said so */
    bool said_lost;     /* output_say_lost() has said so */
    bool is_document;
    bool is_new;                     /* did not exist before it was opened */
    struct replacement *replacement; /* NULL: written in place */
    struct backlog backlog;          /* put, but not yet written */
};

#define OUTPUT_CLOSED                                                                              \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

static inline bool output_is_named_stdout(const struct output *o)
{
    return strcmp(o->name, "-") == 0;
}

/* The name for messages: with --raw, nobody typed "-". */
static inline const char *output_shown_name(const struct output *o)
{
    return output_is_named_stdout(o) ? "stdout" : o->name;
}

#endif
