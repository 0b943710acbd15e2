/* SPDX-License-Identifier: MIT
 * start_time: the moment at which several hosts begin their load together, as text and beside a
 * clock.  Pure. */
#ifndef TCPSCALER_CLIENT_START_TIME_H
#define TCPSCALER_CLIENT_START_TIME_H

#include <stddef.h>
#include <stdint.h>

#define START_TIME_ACCEPTED "seconds since 1970-01-01 UTC, as 1800000000 or 1800000000.25"

/* Seconds since 1970 (UTC) with at most 9 decimals.  Returns 0; or -1 when the text is anything
 * else, or not below the year 2262. */
int start_time_parse(const char *text, uint64_t *epoch_ns);

enum start_time_text { START_TIME_COMPLETE, START_TIME_UNFINISHED, START_TIME_WRONG };

/* The first n_bytes of a file that holds one: only a line that is ended is complete, so that one
 * who reads while it is written does not take 17 for 1700000000. */
enum start_time_text start_time_read(const char *text, size_t n_bytes, uint64_t *epoch_ns);

enum start_time_is { START_TIME_AHEAD, START_TIME_NOW, START_TIME_MISSED };

/* NOW from ahead_ns before the moment until late_max_ns after it. */
enum start_time_is start_time_judge(uint64_t epoch_ns, uint64_t now_epoch_ns, uint64_t ahead_ns,
                                    uint64_t late_max_ns);

#endif
