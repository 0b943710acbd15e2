/* SPDX-License-Identifier: MIT
 * student: Student's t distribution with a whole number of degrees of freedom, by the finite series
 * of Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4.  Pure. */
#ifndef TCPSCALER_MEASURE_STUDENT_H
#define TCPSCALER_MEASURE_STUDENT_H

#include <stddef.h>

/* The probability of a value at least as far from 0 as t, in either direction.  df >= 1; t may be
 * infinite. */
double student_p(double t, size_t df);

/* The t > 0 with this probability, 0 < p < 1. */
double student_t(double p, size_t df);

#endif
