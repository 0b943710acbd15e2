/* SPDX-License-Identifier: MIT
 * refusal: sockets that epoll_ctl(2) has refused to watch.
 *
 * A connection that no epoll watches is stuck: before its thread waits again, the product must have
 * closed it, or have added it after all. */
#ifndef TCPSCALER_SIM_REFUSAL_H
#define TCPSCALER_SIM_REFUSAL_H

#include <stdint.h>

/* Refusals so far: for lack of memory, and by fs.epoll.max_user_watches. */
struct refusal_figures {
    uint64_t n_memory, n_limit;
};

extern struct refusal_figures refusal_figures;

void refusal_begin(void);

/* This epoll has refused to watch the socket of connection i: ENOMEM or ENOSPC. */
void refusal_add(int epoll_fd, uint32_t i, int error);

/* A thread is about to wait for this epoll. */
void refusal_check(int epoll_fd);

#endif
