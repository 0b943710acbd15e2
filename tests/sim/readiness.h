/* SPDX-License-Identifier: MIT
 * readiness: which of the simulated descriptors are ready, and the epolls that watch them. */
#ifndef TCPSCALER_SIM_READINESS_H
#define TCPSCALER_SIM_READINESS_H

#include "descriptor.h"

#include <stdint.h>
#include <sys/epoll.h>

void readiness_begin(void);

/* What is ready now, of EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP, EPOLLRDHUP. */
uint32_t readiness_of(const struct descriptor *d);

/* It may have changed: who waits for the descriptor is woken.  Nothing where it is not open. */
void readiness_changed(int fd);

/* epoll_ctl(2): returns 0 or an errno.  An epoll may be in another, a semaphore in several.  That
 * two threads wait for an epoll is a violation: each event would wake both. */
int readiness_watch(int epoll_fd, int operation, int fd, const struct epoll_event *event);

/* epoll_wait(2): what of it is ready, at most `most`; with EPOLLET what has changed since. */
int readiness_take(int epoll_fd, struct epoll_event *events, int most);

/* It is about to be closed: no epoll watches it, and it watches nothing. */
void readiness_forget(int fd);

#endif
