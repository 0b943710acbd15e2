/* SPDX-License-Identifier: MIT
 * mann_whitney: do two samples come from the same distribution?  The Mann-Whitney test ("On a Test
 * of Whether one of Two Random Variables is Stochastically Larger than the Other", 1947), which
 * uses only ranks and so is robust against outliers; and Holm's correction for several tests ("A
 * Simple Sequentially Rejective Multiple Test Procedure", 1979).  Pure. */
#ifndef TCPSCALER_REPORT_MANN_WHITNEY_H
#define TCPSCALER_REPORT_MANN_WHITNEY_H

#include <stddef.h>

/* The two-sided p, by the normal approximation with corrections for ties and continuity; 1 if a
 * sample is empty.  Negative: out of memory. */
double mann_whitney_p(const double *a, size_t n_a, const double *b, size_t n_b);

/* The smallest p possible for samples of this size without ties: every value of one above every
 * value of the other.  With equal values in a sample, mann_whitney_p() may be less. */
double mann_whitney_least_p(size_t n_a, size_t n_b);

/* Corrects n values of p so that each can be compared with the level of all tests together. */
void mann_whitney_holm(const double *p, double *corrected, size_t n);

#endif
