/* SPDX-License-Identifier: MIT
 * schedule_steps: shared by the tests of schedule. */
#ifndef TCPSCALER_TESTS_UNIT_WORKLOAD_SCHEDULE_STEPS_H
#define TCPSCALER_TESTS_UNIT_WORKLOAD_SCHEDULE_STEPS_H

#include "workload/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define S  1000000000ull
#define MS 1000000ull

static struct schedule s;
static char error[SCHEDULE_ERROR_BYTES];

static void assert_segment(size_t i, uint64_t duration_ns, double begin_qps, double end_qps)
{
    assert_true(i < s.n);
    assert_int_equal(s.segments[i].duration_ns, duration_ns);
    assert_true(s.segments[i].rate_begin_qps == begin_qps);
    assert_true(s.segments[i].rate_end_qps == end_qps);
}

#endif
