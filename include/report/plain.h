/* SPDX-License-Identifier: MIT
 * plain: text of a file for a terminal: somebody else may have put escape sequences or lines of our
 * own into it.  Pure. */
#ifndef TCPSCALER_REPORT_PLAIN_H
#define TCPSCALER_REPORT_PLAIN_H

#include <stdbool.h>

#define PLAIN_BYTES 260 /* longer text is cut */

/* Copies the text, with '?' for each control character; "-" for NULL.  Returns the copy. */
const char *plain(char copy[PLAIN_BYTES], const char *text);

/* Whether it has none. */
bool plain_is(const char *text);

#endif
