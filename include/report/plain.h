/* SPDX-License-Identifier: MIT
 * plain: makes text from a file safe to print on a terminal: it may contain escape sequences, or
 * lines that imitate this program's output.  Pure except for the stream. */
#ifndef TCPSCALER_REPORT_PLAIN_H
#define TCPSCALER_REPORT_PLAIN_H

#include <stdbool.h>
#include <stdio.h>

#define PLAIN_BYTES 260 /* longer text is cut */

/* Copies the text, with '?' for each control character; "-" for NULL.  Returns the copy. */
const char *plain(char copy[PLAIN_BYTES], const char *text);

/* Whether the text has no control characters. */
bool plain_is(const char *text);

/* Prints text of any length, with '?' for each control character, and pads it with spaces to this
 * many columns. */
void plain_print(FILE *out, const char *text, int columns);

/* Columns of a text in UTF-8, if each character takes one. */
int plain_columns(const char *text);

#endif
