/* SPDX-License-Identifier: MIT
 * search_load: the loads that a search tries: of 4 digits or integers, within its range.  Pure. */
#ifndef TCPSCALER_CLIENT_SEARCH_SEARCH_LOAD_H
#define TCPSCALER_CLIENT_SEARCH_SEARCH_LOAD_H

#include "client/search/search_state.h"

/* Returns the nearest one, load > 0. */
double search_load_round(const struct search_config *config, double load);

/* Returns the one in the middle of two loads, by their logarithms; 0: none lies between them. */
double search_load_middle(const struct search_config *config, double lower, double upper);

/* Return the farthest load below or above another whose logarithm differs by at most `distance`, so
 * that a step of the width allowed for the bounds leaves them no wider than that; but at least the
 * next load, or the same one at the end of the range. */
double search_load_below(const struct search_config *config, double load, double distance);
double search_load_above(const struct search_config *config, double load, double distance);

#endif
