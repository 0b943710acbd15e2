/* SPDX-License-Identifier: MIT
 * search_narrow: what a search does with the rest of its time after a load was confirmed below
 * others that had failed: further confirmations bisect the loads between the two, then try the
 * lowest one that failed again, until the bounds of the answer are close enough.  Pure. */
#ifndef TCPSCALER_CLIENT_SEARCH_SEARCH_NARROW_H
#define TCPSCALER_CLIENT_SEARCH_SEARCH_NARROW_H

#include "client/search/search_state.h"

/* Returns the load of the next one; 0: the bounds are close enough, or no load was confirmed below
 * others. */
double search_narrow_load(const struct search *s);

#endif
