/* SPDX-License-Identifier: MIT
 * readiness: which of the simulated descriptors are ready, and the epolls that watch them. */
#ifndef TCPSCALER_SIM_READINESS_H
#define TCPSCALER_SIM_READINESS_H

#include "descriptor.h"

#include <stdint.h>
#include <sys/epoll.h>

void readiness_begin(void);

/* Returns what the descriptor is ready for now: EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP, EPOLLRDHUP.
 */
uint32_t readiness_of(const struct descriptor *d);

/* The readiness may have changed: wakes the threads that wait for the descriptor.  No effect if it
 * is not open. */
void readiness_changed(int fd);

/* epoll_ctl(2): returns 0 or an errno.  An epoll may be in another, a semaphore in several.  That
 * two threads wait for an epoll is a violation: each event would wake both. */
int readiness_watch(int epoll_fd, int operation, int fd, const struct epoll_event *event);

/* epoll_wait(2): returns at most `most` ready descriptors; with EPOLLET, those that have changed
 * since. */
int readiness_take(int epoll_fd, struct epoll_event *events, int most);

/* The descriptor is about to be closed: from now on no epoll watches it, and it watches none. */
void readiness_forget(int fd);

#endif
