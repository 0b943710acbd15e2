/* SPDX-License-Identifier: MIT
 * client_opts_class: parses and checks --class and the [class] sections of a file. */
#ifndef TCPSCALER_CLIENT_OPTS_CLASS_H
#define TCPSCALER_CLIENT_OPTS_CLASS_H

#include "client/opts_table.h"

#include <stdint.h>

/* The settings of a class: those of the program, some of them its own. */
struct client_opts_class {
    struct client_opts opts; /* must be first; server.port 0: that of the run */
    const char *name;
    const char *share_text;
    double share;           /* parsed from it: its part of the clients */
    uint32_t n_connections; /* at least 1 */
    bool has_rate;          /* of its own, for all of its connections */
    char *text;             /* its own settings, one per line */
    char *copy;             /* what they were read from; the settings point into it */
};

/* Refuses what classes exclude; call it before the other checks.  Returns 0, or -1 with one line in
 * error (OPTIONS_ERROR_BYTES). */
int client_opts_check_class_conflicts(const struct client_opts *o, char *error);

/* Fills in classes and n_classes, whose memory is reused by the next call, and replaces the texts
 * of o->class by their normalized form; sets o->reconnect if a class requires it.  Call it before
 * the checks of connections and TLS.  Returns 0, or -1 with one line in error
 * (OPTIONS_ERROR_BYTES). */
int client_opts_check_classes(struct client_opts *o, char *error);

/* Returns the queries per second of class k, or of all classes; 0: none, or by a schedule. */
double client_opts_class_rate_qps(const struct client_opts *o, unsigned k);
double client_opts_classes_rate_qps(const struct client_opts *o);

/* Returns whether the run, or one of its classes, uses TLS. */
bool client_opts_uses_tls(const struct client_opts *o);

/* Returns whether all do. */
bool client_opts_all_use_tls(const struct client_opts *o);

/* Returns the part of the queries of the run that class k sends, 0 to 1.  Of a schedule, or of
 * rates to be requested: its share of the connections. */
double client_opts_class_part(const struct client_opts *o, unsigned k);

/* Returns the queries per connection; 0: no limit.  With classes: how many queries the run sends
 * per connection replaced, rounded up; UINT32_MAX if the classes with a limit send none. */
uint32_t client_opts_queries_per_conn(const struct client_opts *o);

#endif
