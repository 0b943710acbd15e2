/* SPDX-License-Identifier: MIT
 * search_names: names of the states of a search, in reports and in the JSON result.  Pure. */
#ifndef TCPSCALER_CLIENT_SEARCH_SEARCH_NAMES_H
#define TCPSCALER_CLIENT_SEARCH_SEARCH_NAMES_H

#include "client/search/search_state.h"

/* "found", "at-least", "less-than", "inconclusive", "running" */
const char *search_status_name(enum search_status status);

/* "void-trials", "time", "unconfirmed", "too-many-trials", "stopped",
 * "no-connection", "server-gone"; NULL: none. */
const char *search_reason_name(enum search_reason reason);

/* "double", "bisect", "confirm", "overload", "recover" */
const char *search_step_name(enum search_step step);

#endif
