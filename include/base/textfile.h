/* SPDX-License-Identifier: MIT
 * textfile: all of a file, or of standard input, in memory. */
#ifndef TCPSCALER_BASE_TEXTFILE_H
#define TCPSCALER_BASE_TEXTFILE_H

#include <stddef.h>

/* Reads to the end; name NULL: standard input.  *n_bytes of text and a 0 behind them, which the
 * caller frees.  Returns NULL with errno: EFBIG when it has more than most_bytes. */
char *textfile_read(const char *name, size_t most_bytes, size_t *n_bytes);

#endif
