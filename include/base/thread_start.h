/* SPDX-License-Identifier: MIT
 * thread_start: starts a thread that gets no signals, which are for the main thread. */
#ifndef TCPSCALER_BASE_THREAD_START_H
#define TCPSCALER_BASE_THREAD_START_H

#include <pthread.h>

/* Like pthread_create(3), with all signals blocked in the new thread.  Returns 0 or an errno.
 * Any thread. */
int thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);

/* Returns what to append to the text of an errno with which a program or its threads did not start:
 * the limits that may be the reason, " (see ...)"; or "". */
const char *thread_start_hint(int error);

#endif
