/* SPDX-License-Identifier: MIT
 * query_file: the lines of a file of DNS queries, in the format of dnsperf(1): a name, blanks, a
 * type.  Empty lines and lines that begin with a ; are left out, a # is nothing special.  Beyond
 * dnsperf the type may be missing, a comment may stand behind a ;, and a line may end with a CR.
 *
 * Pure; what a name and a type are is for dns_name and dns_type to say. */
#ifndef TCPSCALER_PROTOCOL_QUERY_FILE_H
#define TCPSCALER_PROTOCOL_QUERY_FILE_H

#include <stddef.h>

/* Text that is read from the front; it need not be terminated. */
struct query_file {
    const char *text;
    size_t n_bytes;
    size_t line; /* the number of the line read last; 0: none yet */
};

/* Words of the text; n_type 0: there is none. */
struct query_line {
    const char *name, *type;
    size_t n_name, n_type;
};

/* Moves on to the next line that has a query.  Returns 1; 0: there is none any more; -1: file->line
 * has more words than two. */
int query_file_next(struct query_file *file, struct query_line *line);

#endif
