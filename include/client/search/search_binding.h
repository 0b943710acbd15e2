/* SPDX-License-Identifier: MIT
 * search_binding: what made the trials of a load bad or void.  Pure. */
#ifndef TCPSCALER_CLIENT_SEARCH_SEARCH_BINDING_H
#define TCPSCALER_CLIENT_SEARCH_SEARCH_BINDING_H

#include "client/search/search_state.h"

/* Returns the judgment shared by most trials of this class of a load, bad or void ones; NULL: there
 * are none. */
const struct trial_judgment *search_binding(const struct search *s, double load,
                                            enum trial_class class);

#endif
