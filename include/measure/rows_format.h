/* SPDX-License-Identifier: MIT
 * rows_format: a query or an answer as one row of CSV.  Pure.
 *
 *   type,timestamp,connection_id,query_id,poisson_id,poisson_interval_us,rtt_us,response_us,send_lag_us
 *
 * type Q: timestamp = when it was sent; poisson_id = the worker whose arrival process generated it;
 * poisson_interval_us = the gap before this arrival, 2^32 - 1 if longer; send_lag_us = sent -
 * intended.
 * type A: timestamp = when the answer was received; rtt_us = received - sent; response_us =
 * received - intended; send_lag_us as above.  Other fields are empty.  Times are epoch seconds with
 * 9 decimals; microseconds are whole, rounded towards 0, except response and lag, which have 3
 * decimals.  A time below 0, of two hosts whose clocks disagree, has a sign.
 */
#ifndef TCPSCALER_MEASURE_ROWS_FORMAT_H
#define TCPSCALER_MEASURE_ROWS_FORMAT_H

#include <stdint.h>

#define ROWS_HEADER                                                                                \
    "type,timestamp,connection_id,query_id,poisson_id,poisson_interval_us,rtt_us,response_us,"     \
    "send_lag_us\n"
#define ROWS_LINE_BYTES 160 /* maximum length of a row */

struct rows_record {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t lag_ns;  /* sent - intended */
    uint64_t span_ns; /* Q: gap before the arrival; A: received - sent, modulo 2^64 if negative */
    uint32_t connection;
    uint16_t id;
    uint8_t type; /* 'Q' or 'A' */
    uint8_t reserved;
};

/* One row of worker `ring` as text, without terminating NUL; returns its length. */
unsigned rows_format(char row[ROWS_LINE_BYTES], const struct rows_record *record, uint32_t ring,
                     uint64_t realtime_offset_ns);

#endif
