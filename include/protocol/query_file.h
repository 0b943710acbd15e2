/* SPDX-License-Identifier: MIT
 * query_file: splits a file of DNS queries in the format of dnsperf(1) into lines: a name, blanks,
 * a type. Empty lines and lines that begin with ';' are skipped; '#' is not special.  Beyond
 * dnsperf, the type may be missing, a comment may follow a ';', and a line may end with CR.  Pure;
 * dns_name and dns_type check names and types. */
#ifndef TCPSCALER_PROTOCOL_QUERY_FILE_H
#define TCPSCALER_PROTOCOL_QUERY_FILE_H

#include <stddef.h>

/* Text that is consumed from the front; it need not be terminated. */
struct query_file {
    const char *text;
    size_t n_bytes;
    size_t line; /* number of the line read last; 0: none yet */
};

/* Words of the text; n_type 0: there is none. */
struct query_line {
    const char *name, *type;
    size_t n_name, n_type;
};

/* Advances to the next line that has a query.  Returns 1; 0 at the end; -1 if file->line has more
 * than two words. */
int query_file_next(struct query_file *file, struct query_line *line);

#endif
