/* SPDX-License-Identifier: MIT
 * search_void: loads whose trials stay void, because this host, not the server, is the limit there.
 *
 * Doubling can skip the limit of a server and reach a load that this host cannot send.  The limit
 * may still be below that load, so loads between the lower bound and that load are tried before the
 * search is given up.  Noise of this host may pass, so the last of these loads is repeated for a
 * while.  Pure. */
#ifndef TCPSCALER_CLIENT_SEARCH_SEARCH_VOID_H
#define TCPSCALER_CLIENT_SEARCH_SEARCH_VOID_H

#include "client/search/search_state.h"

#include <stdbool.h>

/* Closer than this to the lower bound, relative to itself, a load that stays void ends a search. */
#define SEARCH_VOID_WIDTH 0.2

/* Whether too many trials of this load were void to repeat them again. */
bool search_void_stays(const struct search *s, double load);

/* Whether this host only delayed queries in the void trials of this load, and for less than a
 * twentieth of the search and a minute: noise that may pass. */
bool search_void_may_pass(const struct search *s, double load);

/* Returns a load between the lower bound and a load that stays void; 0: the search ends, because
 * they are too close, there is no lower bound, or connections were missing: fewer queries per
 * second do not bring them back. */
double search_void_next(const struct search *s, double lower, double load);

#endif
