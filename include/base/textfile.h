/* SPDX-License-Identifier: MIT
 * textfile: reads a whole file, or standard input, into memory. */
#ifndef TCPSCALER_BASE_TEXTFILE_H
#define TCPSCALER_BASE_TEXTFILE_H

#include <stddef.h>

/* Reads to the end; name NULL: standard input.  Returns *n_bytes of text followed by a 0 byte,
 * which the caller frees; or NULL with errno: EFBIG if there are more than most_bytes.  A byte
 * order mark (UTF-8) at the start is left out. */
char *textfile_read(const char *name, size_t most_bytes, size_t *n_bytes);

#endif
