/* SPDX-License-Identifier: MIT
 * call: what all simulated system calls have in common: they take time, are written to the trace,
 * and fail now and then.
 *
 * calls_*.c define functions of the C library.  The product (the program under test) and libevent
 * call these, because the dynamic linker resolves their references in the executable first. Calls
 * on other descriptors, or outside of a simulated run, go to the kernel. */
#ifndef TCPSCALER_SIM_CALL_H
#define TCPSCALER_SIM_CALL_H

#include "descriptor.h"

#include <stddef.h>
#include <stdint.h>

/* A call begins: time passes, and other threads may run. */
void call_begin(void);

/* The call returns this result; if it is < 0, a negative errno, the call returns -1 and sets errno.
 */
int64_t call_return(const char *what, int fd, int64_t result);

/* Returns 0 or, at random, one of n errnos. */
int call_fault(uint64_t permille, const int *errnos, size_t n);
#define CALL_FAULT(permille, errnos) call_fault(permille, errnos, sizeof(errnos) / sizeof *(errnos))

/* Returns a new descriptor, or -1. */
int call_new_descriptor(const char *what, uint64_t permille, enum descriptor_kind kind);

/* Returns the connection of a simulated socket, or -errno if the descriptor is no socket. */
int64_t call_tcp(int fd);

#endif
