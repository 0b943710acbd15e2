/* SPDX-License-Identifier: MIT
 * load: see client/search/load.h. */
#include "client/search/load.h"

#include <math.h>

enum load_class load_classify(const struct load_sums *sums, double goal_s)
{
    const double balancing_s = sums->short_good_s * LOAD_EXCEED_RATIO / (1 - LOAD_EXCEED_RATIO);
    const double bad_s = sums->full_bad_s + fmax(0, sums->short_bad_s - balancing_s);
    const double whole_s = fmax(sums->full_good_s + bad_s, goal_s);
    const double allowed_s = whole_s * LOAD_EXCEED_RATIO;

    if (bad_s > allowed_s)
        return LOAD_UPPER_BOUND;
    return whole_s - sums->full_good_s <= allowed_s ? LOAD_LOWER_BOUND : LOAD_UNDECIDED;
}
