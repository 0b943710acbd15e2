/* SPDX-License-Identifier: MIT
 * crowd: the simulated clients of tcpserver: some talk, some flood, never read, trickle byte by
 * byte, say nothing, or go away at once.  Each compares what comes back with what it has sent. */
#ifndef TCPSCALER_SIM_CROWD_H
#define TCPSCALER_SIM_CROWD_H

#include "tcp.h"

#include <stdint.h>

extern const struct tcp_end crowd_end;

/* They come to these listeners, from now on for the time of the scenario. */
void crowd_begin(const int *listener_fds, uint32_t n_listeners);
void crowd_end_all(void);

/* accept(2): the first one that waits at this listener, or -1. */
int64_t crowd_next(int listener_fd);

/* It gives up. */
void crowd_abort(int64_t client);

/* It is accepted: connection i. */
void crowd_on_accept(int64_t client, uint32_t i);

/* From now on the server may close any connection. */
void crowd_expect_closing(void);

struct crowd_figures {
    uint64_t n_accepted, n_refused, n_closed;
    uint64_t n_ended; /* of those: closed after the client's FIN had been read */
};

extern struct crowd_figures crowd_figures;

#endif
