/* SPDX-License-Identifier: MIT
 * reopen: files that are rotated: renamed by somebody while they are written. */
#ifndef TCPSCALER_BASE_REOPEN_H
#define TCPSCALER_BASE_REOPEN_H

#include <stdbool.h>

/* Puts the file of this name, made where there is none, in the place of the one that the
 * descriptor has: what is written from then on, by any thread that shares the descriptor, is
 * appended to it.  `head` (NULL: none) is written first where the file is empty.  A descriptor of
 * anything but a regular file stays as it is.  Returns 0, or -1 with errno, the old file being
 * kept. */
int reopen(int fd, const char *name, const char *head);

/* Whether a SIGHUP says that the terminal is gone, to which stderr led at the start. */
bool reopen_is_hangup(bool stderr_was_terminal);

#endif
