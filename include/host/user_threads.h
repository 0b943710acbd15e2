/* SPDX-License-Identifier: MIT
 * user_threads: how many threads a user has, for comparison with RLIMIT_NPROC (getrlimit(2)). */
#ifndef TCPSCALER_HOST_USER_THREADS_H
#define TCPSCALER_HOST_USER_THREADS_H

#include <stdint.h>

/* Returns the number of threads of all processes whose real user ID is `user`, as far as they are
 * visible below `proc`, which is "/proc".  Reads a file for every process.  Any thread. */
uint64_t user_threads_count(const char *proc, uint64_t user);

#endif
