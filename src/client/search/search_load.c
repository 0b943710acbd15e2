/* SPDX-License-Identifier: MIT
 * search_load: see client/search/search_load.h. */
#include "client/search/search_load.h"

#include <math.h>

double search_load_round(const struct search_config *c, double load)
{
    const double unit = c->whole ? 1 : pow(10, floor(log10(load)) - 3);

    return fmin(c->max, fmax(c->min, floor(load / unit + 0.5) * unit));
}

double search_load_below(const struct search_config *c, double load, double distance)
{
    const double below = search_load_round(c, load * exp(-distance));

    return c->whole && below >= load ? fmax(c->min, load - 1) : below;
}

double search_load_above(const struct search_config *c, double load, double distance)
{
    const double above = search_load_round(c, load * exp(distance));

    return c->whole && above <= load ? fmin(c->max, load + 1) : above;
}
