/* SPDX-License-Identifier: MIT
 * interval_steps: adds histograms to a timeline as lines of an interval log. */
#ifndef TCPSCALER_TESTS_UNIT_REPORT_INTERVAL_STEPS_H
#define TCPSCALER_TESTS_UNIT_REPORT_INTERVAL_STEPS_H

#include "measure/hlog.h"
#include "print_steps.h"
#include "report/timeline.h"

#include <stdlib.h>

/* Writes the line as hlog does and reads it as recordings do.  The log started at start_ns. */
static inline void add_interval(struct timeline *t, const char *tag, uint64_t start_ns,
                                uint64_t begin_ns, uint64_t length_ns, const struct hist *h)
{
    struct hlog_interval interval;
    char error[HLOG_ERROR_BYTES], *line;

    assert_int_equal(hlog_interval(print_open(), tag, begin_ns, length_ns, h), 0);
    line = print_close();
    assert_int_equal(hlog_reader_line(line, &interval, error), HLOG_INTERVAL);
    assert_int_equal(timeline_add(t, start_ns, &interval), 0);
    free(line);
}

#endif
