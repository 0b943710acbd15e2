/* SPDX-License-Identifier: MIT
 * slope: see measure/slope.h. */
#include "measure/slope.h"

#include "measure/student.h"

#include <math.h>

void slope_add(struct slope_points *p, double x, double y)
{
    if (p->n++ == 0) {
        p->first_x = x;
        p->first_y = y;
    }
    x -= p->first_x;
    y -= p->first_y;
    p->x += x;
    p->y += y;
    p->xx += x * x;
    p->xy += x * y;
    p->yy += y * y;
}

struct slope slope_of(const struct slope_points *p, double step)
{
    const double n = (double)p->n;
    const double sxx = p->n == 0 ? 0 : p->xx - p->x * p->x / n;
    const double sxy = p->n == 0 ? 0 : p->xy - p->x * p->y / n;
    const double syy = p->n == 0 ? 0 : p->yy - p->y * p->y / n;
    struct slope s = {.n = p->n, .per_x = sxy / sxx, .low = NAN, .high = NAN};
    double error;

    /* with equal x, only rounding errors remain */
    if (!(sxx > 1e-9 * p->xx))
        return (struct slope){.per_x = NAN, .low = NAN, .high = NAN};
    if (p->n < 3)
        return s;
    error = student_t(SLOPE_RISK, p->n - 2) *
            sqrt(fmax(step * step / 12, (syy - s.per_x * sxy) / (n - 2)) / sxx);
    s.low = s.per_x - error;
    s.high = s.per_x + error;
    return s;
}
