/* SPDX-License-Identifier: MIT
 * student: see measure/student.h. */
#include "measure/student.h"

#include <math.h>

#define PI 3.14159265358979323846

enum { HALVINGS = 50 };

/* 1 + k0/(k0+1) cos^2 + ... as long as k < df, for the terms that start at k0. */
static double series(double cos2, size_t first, size_t df)
{
    double term = 1, sum = 1;

    for (size_t k = first; k + 1 < df; k += 2) {
        term *= cos2 * (double)k / (double)(k + 1);
        sum += term;
    }
    return sum;
}

double student_p(double t, size_t df)
{
    const double angle = atan(fabs(t) / sqrt((double)df));
    const double c = cos(angle), s = sin(angle);

    if (df % 2 == 0)
        return fmax(0, 1 - s * series(c * c, 1, df));
    if (df == 1)
        return fmax(0, 1 - 2 / PI * angle);
    return fmax(0, 1 - 2 / PI * (angle + s * c * series(c * c, 2, df)));
}

double student_t(double p, size_t df)
{
    double low = 0, high = 1;

    while (student_p(high, df) > p)
        high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;

        if (student_p(middle, df) > p)
            low = middle;
        else
            high = middle;
    }
    return high;
}
