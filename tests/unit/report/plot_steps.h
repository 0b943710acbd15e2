/* SPDX-License-Identifier: MIT
 * plot_steps: a run with four response times, for the tests of what is drawn. */
#ifndef TCPSCALER_TEST_PLOT_STEPS_H
#define TCPSCALER_TEST_PLOT_STEPS_H

#include "report/recordings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct recording run;
static const struct recordings one = {&run, 1};

static inline int start(void **state)
{
    struct metric *metric;

    (void)state;
    run = (struct recording){.name = (char *)"run"};
    metric = metrics_get(&run.metrics, "response");
    if (metric == NULL)
        return -1;
    for (unsigned i = 1; i <= 4; i++)
        hist_record(&metric->hist, i * 1000);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    metrics_free(&run.metrics);
    return 0;
}

#endif
