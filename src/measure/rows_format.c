/* SPDX-License-Identifier: MIT
 * rows_format: see measure/rows_format.h. */
#include "measure/rows_format.h"

static char *put_digits(char *out, uint64_t value, unsigned n_digits)
{
    for (unsigned i = n_digits; i-- > 0; value /= 10)
        out[i] = (char)('0' + value % 10);
    return out + n_digits;
}

static char *put_number(char *out, uint64_t value)
{
    unsigned n_digits = 1;

    for (uint64_t rest = value; rest >= 10; rest /= 10)
        n_digits++;
    return put_digits(out, value, n_digits);
}

/* Below 0 only if the clocks of two hosts disagree. */
static char *put_sign(char *out, uint64_t *ns)
{
    if ((int64_t)*ns < 0) {
        *out++ = '-';
        *ns = -*ns;
    }
    return out;
}

static char *put_us(char *out, uint64_t ns)
{
    out = put_sign(out, &ns);
    out = put_number(out, ns / 1000);
    *out++ = '.';
    return put_digits(out, ns % 1000, 3);
}

static char *put_whole_us(char *out, uint64_t ns)
{
    out = put_sign(out, &ns);
    return put_number(out, ns / 1000);
}

unsigned rows_format(char row[ROWS_LINE_BYTES], const struct rows_record *record, uint32_t ring,
                     uint64_t realtime_offset_ns)
{
    const uint64_t date_ns = record->time_ns + realtime_offset_ns;
    char *out = row;

    *out++ = (char)record->type;
    *out++ = ',';
    out = put_number(out, date_ns / 1000000000);
    *out++ = '.';
    out = put_digits(out, date_ns % 1000000000, 9);
    *out++ = ',';
    out = put_number(out, record->connection);
    *out++ = ',';
    out = put_number(out, record->id);
    *out++ = ',';
    if (record->type == 'Q') {
        out = put_number(out, ring);
        *out++ = ',';
        out = put_number(out, record->span_ns / 1000);
        *out++ = ',';
        *out++ = ',';
    } else {
        *out++ = ',';
        *out++ = ',';
        out = put_whole_us(out, record->span_ns);
        *out++ = ',';
        out = put_us(out, record->span_ns + record->lag_ns);
    }
    *out++ = ',';
    out = put_us(out, record->lag_ns);
    *out++ = '\n';
    return (unsigned)(out - row);
}
