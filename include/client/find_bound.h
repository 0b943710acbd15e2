/* SPDX-License-Identifier: MIT
 * client_find_bound: what limited a capacity search, according to the counters of the trials that
 * decided it: the bad ones at the smallest load that is not sustained, or those that ended the
 * search: void ones, or confirmations that failed. */
#ifndef TCPSCALER_CLIENT_FIND_BOUND_H
#define TCPSCALER_CLIENT_FIND_BOUND_H

#include "client/find_state.h"

#include <stdbool.h>
#include <stdint.h>

/* Sums over these trials. */
struct client_find_evidence {
    uint64_t n_trials;
    uint64_t n_allowed; /* queries or connections that the goals missed allow beyond their limits */
    uint64_t overflows, syn_retransmits, n_not_begun;
    uint64_t n_not_opened, n_without_port; /* but for trials that were bad even without these */
};

enum client_find_limit {
    CLIENT_FIND_UNLIMITED,      /* no trial decided */
    CLIENT_FIND_BY_PORTS,       /* most of the connections that this host could not open */
    CLIENT_FIND_BY_OPENING,     /* its files, its memory, its routes, ... */
    CLIENT_FIND_BY_IN_PROGRESS, /* --max-connections: as many were waiting */
    CLIENT_FIND_BY_CLIENT,      /* its speed */
    CLIENT_FIND_BY_ACCEPTS,     /* accept queue overflows, more than n_allowed */
    CLIENT_FIND_BY_LOST_SYNS,   /* SYNs were lost, at the server or on the path */
    CLIENT_FIND_BY_SERVER       /* if nothing else did: the last one */
};

/* Adds up the trials that decided, and returns what limited them: the first of the above that
 * applies, so that all reports agree. */
enum client_find_limit client_find_bound(const struct client_find *f,
                                         struct client_find_evidence *e);

/* Returns the load of the trials that decided; 0: none. */
double client_find_deciding_load(const struct client_find *f);

/* TLS handshakes of the good trials at the lower bound: full ones and those that resumed a session.
 * Returns false if there are none. */
bool client_find_handshakes(const struct client_find *f, uint64_t *full, uint64_t *resumed);

/* Whether the search ended because connections were missing before its trials: the server no longer
 * accepted them, unless this host could not open them. */
bool client_find_lacks_connections(const struct client_find *f);

/* Returns its name: "ports", "not-opened", "max-connections", "client", "accept-queue", "syns-lost"
 * or "server"; NULL: nothing limited it. */
const char *client_find_bound_name(const struct client_find *f);

#endif
