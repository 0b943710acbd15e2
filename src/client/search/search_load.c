/* SPDX-License-Identifier: MIT
 * search_load: see client/search/search_load.h. */
#include "client/search/search_load.h"

#include <math.h>

/* Relative error of a quotient: from exp() and from the division. */
#define TOLERANCE 1e-6

static double unit_of(const struct search_config *c, double load)
{
    return c->whole ? 1 : pow(10, floor(log10(load)) - 3);
}

/* Returns n units.  Divides where the unit is 0.1 or less, which no double is exactly. */
static double of_units(double n, double unit)
{
    return unit < 1 ? n / round(1 / unit) : n * unit;
}

static double within_range(const struct search_config *c, double load)
{
    return fmin(c->max, fmax(c->min, load));
}

double search_load_round(const struct search_config *c, double load)
{
    const double unit = unit_of(c, load);

    return within_range(c, of_units(floor(load / unit + 0.5), unit));
}

double search_load_middle(const struct search_config *c, double lower, double upper)
{
    const double middle = search_load_round(c, sqrt(lower * upper));

    return middle > lower && middle < upper ? middle : 0;
}

double search_load_below(const struct search_config *c, double load, double distance)
{
    const double target = load * exp(-distance), unit = unit_of(c, target);
    const double next = ceil(load / unit - TOLERANCE) - 1;

    return within_range(c, of_units(fmin(ceil(target / unit - TOLERANCE), next), unit));
}

double search_load_above(const struct search_config *c, double load, double distance)
{
    const double target = load * exp(distance), unit = unit_of(c, target);
    const double next = floor(load / unit + TOLERANCE) + 1;

    return within_range(c, of_units(fmax(floor(target / unit + TOLERANCE), next), unit));
}
