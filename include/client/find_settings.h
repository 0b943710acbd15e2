/* SPDX-License-Identifier: MIT
 * client_find_settings: what a capacity search is to find, from the options.  Pure. */
#ifndef TCPSCALER_CLIENT_FIND_SETTINGS_H
#define TCPSCALER_CLIENT_FIND_SETTINGS_H

#include "client/opts_table.h"
#include "client/search/search_state.h"
#include "client/search/slo.h"

#include <stdint.h>

struct client_find_settings {
    int what; /* enum client_find_what, not NONE */
    struct slo slo;
    double min, max;  /* loads, in client_find_settings_unit() */
    double width;     /* of the result, and ... */
    uint64_t time_ns; /* ... how long the search may take: see struct search_config */
    double rate_qps;  /* with find connections: queries per second at every load */
};

/* The unit of the loads: "q/s", "connections" or "connections/s".  what: not NONE. */
const char *client_find_settings_unit(int what);

/* Returns the settings of options that client_opts_check_find() has read. */
struct client_find_settings client_find_settings_of(const struct client_opts *o);

/* Returns how long the start of every trial is, which is not measured. */
uint64_t client_find_settings_discard_ns(const struct client_find_settings *s);

/* Returns the search for these settings.  n_threads: a search for connections begins with at least
 * as many, because each thread has part of the queries, and so needs one. */
struct search_config client_find_settings_search(const struct client_find_settings *s,
                                                 unsigned n_threads);

#endif
