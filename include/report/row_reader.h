/* SPDX-License-Identifier: MIT
 * row_reader: takes the rows of tcpclient -R apart; the columns are those of measure/rows.h.  Pure.
 */
#ifndef TCPSCALER_REPORT_ROW_READER_H
#define TCPSCALER_REPORT_ROW_READER_H

#include <stdbool.h>
#include <stdint.h>

struct row {
    bool is_answer;
    uint64_t time_ns; /* since the epoch: sent, or received */
    uint64_t connection;
    uint64_t response_ns; /* of an answer */
    uint64_t send_lag_ns;
};

/* One row, with or without its end.  Returns 0, or -1 when it is not one. */
int row_reader_take(const char *line, struct row *row);

#endif
