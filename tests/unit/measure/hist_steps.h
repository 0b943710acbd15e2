/* SPDX-License-Identifier: MIT
 * hist_steps: shared by the tests of hist. */
#ifndef TCPSCALER_TESTS_UNIT_MEASURE_HIST_STEPS_H
#define TCPSCALER_TESTS_UNIT_MEASURE_HIST_STEPS_H

#include "measure/hist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

enum { N_VALUES = 50000 };

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Log-uniform over the range of the histogram, so that all buckets are hit. */
static inline uint64_t random_value(uint64_t *state)
{
    const uint64_t value = next_random(state) >> (22 + next_random(state) % 42);

    return value == 0 ? 1 : value <= HIST_HIGHEST_NS ? value : HIST_HIGHEST_NS;
}

static inline void start(struct hist *h)
{
    assert_int_equal(hist_init(h), 0);
}

#endif
