/* SPDX-License-Identifier: MIT
 * units: converts between text and numbers; the text always includes the unit.  Pure.
 *
 * Parsing consumes the whole text (no blanks, no sign, no trailing characters) and ignores the
 * locale; on failure it returns -1 and leaves the output untouched.  Formatting writes into a
 * caller's buffer of UNITS_TEXT_BYTES and returns that buffer. */
#ifndef TCPSCALER_BASE_UNITS_H
#define TCPSCALER_BASE_UNITS_H

#include <stdint.h>

#define UNITS_TEXT_BYTES 32

#define UNITS_NS_PER_US 1000ull
#define UNITS_NS_PER_MS 1000000ull
#define UNITS_NS_PER_S  1000000000ull

/* "20us", "250ms", "1.5s", "2m", "1h", "100ns"; a bare number is seconds.  The result is in
 * nanoseconds, rounded to the nearest; values above 2^64-1 ns (about 584 years) are refused, and so
 * are values that would be rounded to 0, which may mean "none". */
int units_parse_duration(const char *text, uint64_t *ns);

/* "10000", "10k", "1.5M", "2G": decimal multiples; the result has to be a whole number. */
int units_parse_count(const char *text, uint64_t *count);

/* "1/100", "1/1k": one in many, at least one in 1. */
int units_parse_share(const char *text, uint64_t *one_in);

/* "4096", "64KiB", "1MiB", "2GiB" (binary) and "64k", "1M" (decimal). */
int units_parse_bytes(const char *text, uint64_t *bytes);

/* "0.5", "20k", "1.2M": finite and >= 0, per second. */
int units_parse_rate(const char *text, double *per_s);

/* "3%", "0.1%": a part of the whole, 0.03 and 0.001; >= 0. */
int units_parse_percent(const char *text, double *part);

/* A duration with three significant digits in a suitable unit: "0 ns", "999 ns", "1.23 us", "45.6
 * ms", "789 ms", "12.3 s"; from 1,000 s whole seconds with separators: "3,600 s". */
char *units_format_duration(char *buffer, uint64_t ns);

/* A duration that units_parse_duration() reads back as the same number, in the largest unit without
 * a fraction: "0s", "1500ms", "20us". */
char *units_write_duration(char *buffer, uint64_t ns);

/* 1234567 -> "1,234,567". */
char *units_format_count(char *buffer, uint64_t count);

/* A rate, rounded: "1,234" from 10 on, with three significant digits below. */
char *units_format_rate(char *buffer, double per_s);

/* A rate to the tenth, "20105.6"; below 1, where that would leave little of it, with three
 * significant digits, "0.0167".  per_s: 0, or at least 1e-4. */
char *units_format_tenths(char *buffer, double per_s);

/* A number without an exponent: six significant digits, "33333.3", or all of a larger whole part,
 * "1234567".  n: 0, or 1e-4 to 1e15. */
char *units_format_decimal(char *buffer, double n);

/* Returns the share; if it is less than 1, lowered so far that it is not printed as 1 with this
 * many digits. */
double units_round_share(double share, int n_digits);

/* Returns a share in percent, rounded down to 4 decimals: 100 is all. */
double units_percent(double share);

/* Like units_format_count(); "unknown" for UINT64_MAX. */
char *units_format_known(char *buffer, uint64_t count);

/* Returns the noun for a count: `one` for 1, otherwise `many`. */
const char *units_noun(uint64_t count, const char *one, const char *many);

/* Binary multiples with three significant digits: "512 B", "1.50 KiB", "23.4 MiB". */
char *units_format_bytes(char *buffer, uint64_t bytes);

#endif
