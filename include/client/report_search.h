/* SPDX-License-Identifier: MIT
 * report_search: what the reports of a capacity search share: its result, its unit, and why a trial
 * was not good.  Pure. */
#ifndef TCPSCALER_CLIENT_REPORT_SEARCH_H
#define TCPSCALER_CLIENT_REPORT_SEARCH_H

#include "base/units.h"
#include "client/find.h"

/* Returns the goal missed at the load that decided (client/find_bound.h), or why void trials ended
 * the search; NULL: none. */
const char *report_search_binding(const struct client_find *f);

/* Returns why a search with an answer ended before its bounds were close enough or, if it ran out
 * of time, had all votes; SEARCH_SERVER_GONE also after that.  SEARCH_NO_REASON: it did not, or has
 * no answer. */
enum search_reason report_search_cut_by(const struct client_find *f);

/* Formats a load without its unit: "12,345", "12.35".  Returns text (UNITS_TEXT_BYTES). */
const char *report_search_load(char *text, double load);

/* Returns the unit of loads. */
const char *report_search_unit(const struct client_find *f);

/* Returns whether a trial has a judgment: those that overload the server on purpose have none. */
bool report_search_is_judged(const struct search_trial *t);

/* Returns why a trial was bad or void; NULL: it was good or is not judged. */
const char *report_search_reason(const struct client_find *f, const struct search_trial *t);

#endif
