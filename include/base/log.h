/* SPDX-License-Identifier: MIT
 * log: one line to the user on stderr, "PROGRAM: text", written with one call so that the
 * lines of several threads do not mix.  Control characters, which a bad argument may contain, are
 * shown as '?'. Any thread. */
#ifndef TCPSCALER_BASE_LOG_H
#define TCPSCALER_BASE_LOG_H

#include <stdbool.h>
#include <stdio.h>

/* Prints at most 5,119 bytes: a path (PATH_MAX) and 1,000 more.  Returns -1, so that a failing
 * function can return its result.  Leaves errno as it was. */
__attribute__((format(printf, 1, 2))) int log_error(const char *format, ...);

/* The stream of all messages, including reports on stderr: stderr, unless replaced.  Never print to
 * stderr itself: a slow reader could block it (base/output.h). */
FILE *log_stream(void);

/* Replaces the stream; NULL: stderr.  The caller closes the previous one.  Call it while no other
 * thread prints. */
void log_set_stream(FILE *stream);

/* Whether stderr is a terminal that supports control sequences (TERM is set and not "dumb"). */
bool log_can_erase(void);

#endif
