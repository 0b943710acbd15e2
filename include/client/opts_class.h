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
    bool has_load;          /* of its own: a rate or an interval */
    bool has_rate;          /* of its own, for all of its connections */
    char *text;             /* its own settings, one per line */
    char *copy;             /* what they were read from; the settings point into it */
};

/* Refuses what classes exclude; call it before the other checks.  Returns 0, or -1 with one line in
 * error (OPTIONS_ERROR_BYTES). */
int client_opts_check_class_conflicts(const struct client_opts *o, char *error);

/* Fills in classes and n_classes, whose memory is reused by the next call, and replaces the texts
 * of o->class with their normalized form; sets o->reconnect if a class requires it.  Call it before
 * the checks of connections and TLS.  Returns 0, or -1 with one line in error
 * (OPTIONS_ERROR_BYTES). */
int client_opts_check_classes(struct client_opts *o, char *error);

#endif
