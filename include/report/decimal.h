/* SPDX-License-Identifier: MIT
 * decimal: a decimal number at the begin of a text, taken exactly: for the columns of files.  Pure,
 * ignores the locale. */
#ifndef TCPSCALER_REPORT_DECIMAL_H
#define TCPSCALER_REPORT_DECIMAL_H

#include <stdint.h>

/* Digits, and perhaps a point and more digits, times `scale`, a power of ten; what is left below 1
 * is cut off: "1.5" with 1,000,000,000 is 1.5 s in ns.  Returns what follows the number, or NULL
 * when there is none or it is too large. */
const char *decimal_take(const char *text, uint64_t scale, uint64_t *value);

#endif
