/* SPDX-License-Identifier: MIT
 * writing: writes to descriptors whose reader may have stopped reading.  Any thread. */
#ifndef TCPSCALER_BASE_WRITING_H
#define TCPSCALER_BASE_WRITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WRITING_TIMEOUT_NS 300000000ull

/* Opens the file of a pipe or terminal again, so that O_NONBLOCK does not affect others who share
 * the open file description; if that fails, or for another file, duplicates the descriptor.
 * Returns the new descriptor, or -1 with errno. */
int writing_open_again(int fd);

/* Whether to go on waiting for a reader; waited_ns: since the same writer last called it. */
typedef bool writing_may_wait(uint64_t waited_ns);

/* Until shutdown is requested (base/shutdown.h).  From then on, all writers together wait
 * WRITING_TIMEOUT_NS without progress. */
bool writing_until_shutdown(uint64_t waited_ns);

bool writing_never(uint64_t waited_ns);

/* Writes all of the text; waits for the reader as long as may_wait() allows.  Returns the number of
 * bytes written; if not all, with *error: EAGAIN if the reader does not read, or the errno of
 * write(2); else 0.  Blocks only on a regular file, and on a pipe that writing_open_again() could
 * not open and that another process fills at this moment. */
size_t writing_all(int fd, const char *text, size_t n_bytes, writing_may_wait *may_wait,
                   int *error);

#endif
