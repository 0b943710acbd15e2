/* SPDX-License-Identifier: MIT
 * row_reader: see report/row_reader.h. */
#include "report/row_reader.h"

#include "base/units.h"
#include "measure/rows_format.h"
#include "report/decimal.h"

#include <string.h>

bool row_reader_is_header(const char *line)
{
    return strcmp(line, ROWS_HEADER) == 0;
}

/* Finds the start of each column; false unless there are exactly n_columns. */
static bool find_columns(const char *line, const char **columns, int n_columns)
{
    for (int i = 0; i < n_columns; i++) {
        columns[i] = line;
        line += strcspn(line, ",\r\n");
        if (*line != ',')
            return i == n_columns - 1;
        line++;
    }
    return false;
}

static bool take_decimal(const char *column, uint64_t scale, uint64_t *value)
{
    const char *end = decimal_take(column, scale, value);

    return end != NULL && strchr(",\r\n", *end) != NULL;
}

/* As above.  Times below 0, of two hosts whose clocks disagree, are 0. */
static bool take_us(const char *column, uint64_t *ns)
{
    const bool is_negative = *column == '-';

    if (!take_decimal(column + is_negative, UNITS_NS_PER_US, ns))
        return false;
    if (is_negative)
        *ns = 0;
    return true;
}

int row_reader_take(const char *line, struct row *row)
{
    enum { TYPE, TIME, CONNECTION, ID, POISSON_ID, POISSON_US, RTT_US, RESPONSE_US, LAG_US, N };
    const char *columns[N];

    *row = (struct row){.is_answer = *line == 'A'};
    if ((*line != 'Q' && *line != 'A') || line[1] != ',' || !find_columns(line, columns, N))
        return -1;
    if (!take_decimal(columns[TIME], UNITS_NS_PER_S, &row->time_ns) ||
        !take_decimal(columns[CONNECTION], 1, &row->connection) ||
        !take_decimal(columns[LAG_US], UNITS_NS_PER_US, &row->send_lag_ns))
        return -1;
    if (row->is_answer && !take_us(columns[RESPONSE_US], &row->response_ns))
        return -1;
    if (row->response_ns > row->send_lag_ns)
        row->service_ns = row->response_ns - row->send_lag_ns;
    return 0;
}
