/* SPDX-License-Identifier: MIT
 * procfile: reads a small file of /proc or a control group. */
#ifndef TCPSCALER_HOST_WATCH_PROCFILE_H
#define TCPSCALER_HOST_WATCH_PROCFILE_H

#include <stddef.h>

/* Reads what fits into `text` and terminates it.  Returns 0; or -1 with errno and text "". */
__attribute__((format(printf, 3, 4))) int procfile_read(char *text, size_t room, const char *format,
                                                        ...);

#endif
