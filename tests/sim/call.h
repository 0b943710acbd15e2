/* SPDX-License-Identifier: MIT
 * call: what all simulated system calls have in common: they take time, are written to the trace,
 * and fail now and then.
 *
 * calls_*.c define functions of the C library.  The product and libevent, whose references the
 * dynamic linker resolves in the executable first, call these; what is not about simulated
 * descriptors, or outside of a simulated run, goes to the kernel. */
#ifndef TCPSCALER_SIM_CALL_H
#define TCPSCALER_SIM_CALL_H

#include "descriptor.h"

#include <stddef.h>
#include <stdint.h>

/* A call begins: time passes, others may run. */
void call_begin(void);

/* It returns this: -1 and errno for result < 0, the negative errno. */
int64_t call_return(const char *what, int fd, int64_t result);

/* 0, or by the dice one of n errnos. */
int call_fault(uint64_t permille, const int *errnos, size_t n);
#define CALL_FAULT(permille, errnos) call_fault(permille, errnos, sizeof(errnos) / sizeof *(errnos))

/* Returns a new descriptor, or -1. */
int call_new_descriptor(const char *what, uint64_t permille, enum descriptor_kind kind);

/* The connection of a simulated socket, or -errno if it is none. */
int64_t call_tcp(int fd);

#endif
