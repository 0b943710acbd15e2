/* SPDX-License-Identifier: MIT
 * standard_streams: descriptors 0, 1 and 2 of a program that was started without some of them. */
#ifndef TCPSCALER_BASE_STANDARD_STREAMS_H
#define TCPSCALER_BASE_STANDARD_STREAMS_H

/* Opens /dev/null for each standard stream that was closed when the program started, so that no
 * other file gets its number: reading stdin and writing stdout fail (EBADF) as if they were still
 * closed.  Call it before opening anything else. */
void standard_streams_open(void);

#endif
