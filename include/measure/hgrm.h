/* SPDX-License-Identifier: MIT
 * hgrm: writes a histogram as HdrHistogram's percentile distribution, the input of its plotters. */
#ifndef TCPSCALER_MEASURE_HGRM_H
#define TCPSCALER_MEASURE_HGRM_H

#include "measure/hist.h"

#include <stdio.h>

/* Values in microseconds; five lines for each halving of the distance to 100 %, the last one at 100
 * % with the maximum, which no value exceeds.  Samples beyond are counted at the highest value of
 * HIST_BEYOND_INDEX, which then is the last line; the footer has the exact maximum of the values.
 * Write errors stay in the stream. */
void hgrm_print(FILE *out, const struct hist *h);

#endif
