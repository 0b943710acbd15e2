/* SPDX-License-Identifier: MIT
 * reopen: supports rotation of files that are being written. */
#ifndef TCPSCALER_BASE_REOPEN_H
#define TCPSCALER_BASE_REOPEN_H

/* Opens the file of this name, creating it if needed, and puts it in place of the descriptor's
 * file: from then on, all writes through the descriptor, by threads that share the caller's fd
 * table, are appended to it.  If the file is empty, `head` (NULL: none) is written first.  A
 * descriptor that is not a regular file is left alone.  Returns 0, or -1 with errno and the old
 * file kept. */
int reopen(int fd, const char *name, const char *head);

/* After a failed write, removes what follows the last newline of a regular file: the part of a line
 * that was written.  Without permission to read the file, that part stays. */
void reopen_trim(int fd);

#endif
