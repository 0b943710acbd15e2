/* SPDX-License-Identifier: MIT
 * row_reader: parses the rows of tcpclient -R; measure/rows_format.h has the columns.  Pure. */
#ifndef TCPSCALER_REPORT_ROW_READER_H
#define TCPSCALER_REPORT_ROW_READER_H

#include <stdbool.h>
#include <stdint.h>

struct row {
    bool is_answer;
    uint64_t time_ns; /* since the epoch: sent, or received */
    uint64_t connection;
    /* of an answer; 0 if it would be negative, because the clocks of two hosts disagree */
    uint64_t response_ns, service_ns;
    uint64_t send_lag_ns;
};

/* Returns whether a line, with its newline, is the one above the rows. */
bool row_reader_is_header(const char *line);

/* Parses one row, with or without newline.  Returns 0, or -1 if it is not a row. */
int row_reader_take(const char *line, struct row *row);

#endif
