/* SPDX-License-Identifier: MIT
 * mann_whitney: do two samples come from the same distribution?  The test of Mann and Whitney ("On
 * a Test of Whether one of Two Random Variables is Stochastically Larger than the Other", 1947),
 * which looks at ranks alone and so does not care for outliers; and Holm's correction for several
 * of them
 * ("A Simple Sequentially Rejective Multiple Test Procedure", 1979).  Pure. */
#ifndef TCPSCALER_REPORT_MANN_WHITNEY_H
#define TCPSCALER_REPORT_MANN_WHITNEY_H

#include <stddef.h>

/* The two-sided p, by the normal approximation with corrections for ties and continuity; 1 when a
 * sample is empty.  Negative: no memory. */
double mann_whitney_p(const double *a, size_t n_a, const double *b, size_t n_b);

/* The least p that samples of this size can have: every value of one above every one of the other.
 */
double mann_whitney_least_p(size_t n_a, size_t n_b);

/* n p, each corrected so that it may be compared with the level that all of them together shall
 * have.
 */
void mann_whitney_holm(const double *p, double *corrected, size_t n);

#endif
