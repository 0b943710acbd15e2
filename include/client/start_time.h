/* SPDX-License-Identifier: MIT
 * start_time: the time at which several hosts start their load: parses it and compares it with a
 * clock.  Pure. */
#ifndef TCPSCALER_CLIENT_START_TIME_H
#define TCPSCALER_CLIENT_START_TIME_H

#include <stddef.h>
#include <stdint.h>

#define START_TIME_ACCEPTED "seconds since 1970-01-01 UTC, such as 1800000000 or 1800000000.25"

/* Parses seconds since 1970 (UTC) with at most 9 decimals.  Returns 0; or -1 for any other text, or
 * a time from 2262 on. */
int start_time_parse(const char *text, uint64_t *epoch_ns);

enum start_time_text { START_TIME_COMPLETE, START_TIME_UNFINISHED, START_TIME_WRONG };

/* Parses the first n_bytes of a file.  Only a line with its newline is complete, so a partly
 * written file never turns 1700000000 into 17. */
enum start_time_text start_time_read(const char *text, size_t n_bytes, uint64_t *epoch_ns);

enum start_time_is { START_TIME_AHEAD, START_TIME_NOW, START_TIME_MISSED };

/* NOW: from ahead_ns before the time until late_max_ns after it. */
enum start_time_is start_time_judge(uint64_t epoch_ns, uint64_t now_epoch_ns, uint64_t ahead_ns,
                                    uint64_t late_max_ns);

#endif
