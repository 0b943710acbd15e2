/* SPDX-License-Identifier: MIT
 * utf8: text in UTF-8 (RFC 3629).  Pure. */
#ifndef TCPSCALER_BASE_UTF8_H
#define TCPSCALER_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* U+FFFD, in place of what is not UTF-8. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* U+FEFF, which editors on Windows write at the start of a file. */
#define UTF8_BYTE_ORDER_MARK "\xef\xbb\xbf"

/* Returns the length of the byte order mark at the start of a text; 0: there is none. */
size_t utf8_mark_bytes(const char *text, size_t n_bytes);

/* Reads the first character of a terminated text.  Returns its number of bytes, 1 to 4; 0: not
 * UTF-8. */
unsigned utf8_take(const unsigned char *text, uint32_t *character);

/* Returns the length of the control character at the start of a terminated text, 1 or 2; 0: there
 * is none.  Terminals also obey those beyond ASCII, U+0080 to U+009F, of two bytes. */
unsigned utf8_control_bytes(const char *text);

/* Replaces each control character with '?'. */
void utf8_replace_controls(char *text);

#endif
