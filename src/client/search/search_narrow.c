/* SPDX-License-Identifier: MIT
 * search_narrow: see client/search/search_narrow.h. */
#include "client/search/search_narrow.h"

#include "client/search/search_bounds.h"
#include "client/search/search_confirm.h"
#include "client/search/search_load.h"

#include <stdbool.h>

static bool is_narrow(const struct search_config *c, double lower, double upper)
{
    return 1 - lower / upper <= c->width + 1e-9 || search_load_middle(c, lower, upper) == 0;
}

double search_narrow_load(const struct search *s)
{
    double lower, upper, load;

    if (s->descended_to == 0)
        return 0;
    search_bounds(s, &lower, &upper);
    load = search_confirm_failed_above(s, lower);
    if (load == 0 || (upper > 0 && is_narrow(&s->config, lower, upper)))
        return 0;
    return is_narrow(&s->config, lower, load) ? load : search_load_middle(&s->config, lower, load);
}
