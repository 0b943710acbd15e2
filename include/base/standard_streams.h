/* SPDX-License-Identifier: MIT
 * standard_streams: descriptors 0, 1 and 2 of a program that was started without some of them. */
#ifndef TCPSCALER_BASE_STANDARD_STREAMS_H
#define TCPSCALER_BASE_STANDARD_STREAMS_H

/* Where standard streams were closed by whoever started the program, opens /dev/null in their
 * place, so that no other file gets their numbers: stdin and stdout such that reading and writing
 * them fails (EBADF), as if they were closed still.  Before anything else is opened. */
void standard_streams_open(void);

#endif
