/* SPDX-License-Identifier: MIT
 * decimal: parses a decimal number at the start of a text exactly, for the columns of files.  Pure,
 * ignores the locale. */
#ifndef TCPSCALER_REPORT_DECIMAL_H
#define TCPSCALER_REPORT_DECIMAL_H

#include <stdint.h>

/* Digits, optionally with a point and more digits, times `scale`, a power of ten; the rest below 1
 * is truncated: "1.5" with 1,000,000,000 is 1.5 s in ns.  Returns what follows the number, or NULL
 * if there is none or it is too large. */
const char *decimal_take(const char *text, uint64_t scale, uint64_t *value);

#endif
