/* SPDX-License-Identifier: MIT
 * client_opening: notices that a server no longer answers new connections.
 *
 * Each of them keeps its place in the connect window until it times out.  Beyond the server's
 * limit, opening the others one window after the other would take hours and show nothing new. */
#ifndef TCPSCALER_CLIENT_OPENING_H
#define TCPSCALER_CLIENT_OPENING_H

#include <stdbool.h>
#include <stdint.h>

/* Set by the caller; the rest begins as zeros. */
struct client_opening {
    uint64_t window;                        /* connections being opened at a time, by all workers */
    uint64_t timeout_ns;                    /* the longest that one of them may take; > 0 */
    uint64_t n_usable, n_settled, since_ns; /* when the last one had become usable */
};

/* Returns whether at least two windows of connections in a row, and for two timeouts, had an
 * outcome and none became usable.  Call it repeatedly while connections are opened; now_ns:
 * monotonic. n_settled: connections that had an outcome, of which n_usable were usable; read
 * n_settled first if the two change meanwhile. */
bool client_opening_is_futile(struct client_opening *o, uint64_t n_settled, uint64_t n_usable,
                              uint64_t now_ns);

#endif
