/* SPDX-License-Identifier: MIT
 * search_binding: what made the trials of a load bad.  Pure. */
#ifndef TCPSCALER_CLIENT_SEARCH_SEARCH_BINDING_H
#define TCPSCALER_CLIENT_SEARCH_SEARCH_BINDING_H

#include "client/search/search_state.h"

/* Returns the judgment shared by most bad trials of a load; NULL: no bad trials. */
const struct trial_judgment *search_binding(const struct search *s, double load);

#endif
