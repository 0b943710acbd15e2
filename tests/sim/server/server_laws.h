/* SPDX-License-Identifier: MIT
 * server_laws: what must hold after a run of tcpserver's workers: their counts are those of the
 * simulated calls. */
#ifndef TCPSCALER_SIM_SERVER_LAWS_H
#define TCPSCALER_SIM_SERVER_LAWS_H

#include "scenario.h"
#include "server/workers.h"

/* The most descriptors that are not connections, if all workers share one table: each has two of
 * epoll, an eventfd, a timerfd and its listener.  tcpserver does not start with fewer. */
static inline uint64_t server_own_fds(const struct scenario *s)
{
    return 12 + 5 * s->workers;
}

/* The workers have ended. */
void server_laws_check(const struct scenario *s, const struct server_config *config,
                       const struct server_workers *workers);

#endif
