/* SPDX-License-Identifier: MIT
 * hgrm: writes a histogram as HdrHistogram's percentile distribution, the input of its plotters. */
#ifndef TCPSCALER_MEASURE_HGRM_H
#define TCPSCALER_MEASURE_HGRM_H

#include "measure/hist.h"

#include <stdio.h>

/* Values in microseconds; five lines for each halving of the distance to 100 %.  The last two have
 * the maximum, which no value exceeds: plotters skip the one at 100 %, whose fourth column would be
 * infinite.  Samples beyond all values are counted at the highest value of HIST_BEYOND_INDEX, which
 * is then printed as the maximum; the footer has the exact maximum of the values.  Write errors
 * stay in the stream. */
void hgrm_print(FILE *out, const struct hist *h);

#endif
